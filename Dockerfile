# gpucall in a container.
#   docker build --target cpu  -t gpucall:cpu .
#   docker build --target cuda -t gpucall:cuda .
# deploy/compose.yaml starts either; deploy/build-image builds without a registry.
ARG CPU_BASE=debian:bookworm-slim
ARG CUDA_BUILD_BASE=nvidia/cuda:13.0.2-devel-ubuntu24.04
ARG CUDA_BASE=nvidia/cuda:13.0.2-base-ubuntu24.04

FROM ${CPU_BASE} AS cpu-build
WORKDIR /src
COPY dev .
RUN ./dev install
COPY . .
RUN GPUCALL_PRESET=cpu ./dev install /opt/gpucall

FROM ${CUDA_BUILD_BASE} AS cuda-build
WORKDIR /src
COPY dev .
RUN ./dev install
COPY . .
RUN GPUCALL_PRESET=cuda ./dev install /opt/gpucall

# The server and the libraries it needs, on a bare system; a user without rights.
FROM ${CPU_BASE} AS cpu
COPY --from=cpu-build /opt/gpucall /opt/gpucall
ENV PATH=/opt/gpucall/bin:$PATH XDG_CACHE_HOME=/tmp
LABEL org.opencontainers.image.title="gpucall" \
      org.opencontainers.image.description="Array operations over gRPC, on the CPU" \
      org.opencontainers.image.version="0.1.0"
USER 10001:10001
EXPOSE 7625
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 CMD ["gpucall-server", "--probe=127.0.0.1:7625"]
ENTRYPOINT ["gpucall-server"]
CMD ["--listen=0.0.0.0:7625"]

FROM ${CUDA_BASE} AS cuda
ARG CUDA_PACKAGES="libcublas-13-0 cuda-nvrtc-13-0"
RUN apt-get update -q && apt-get install -y -q --no-install-recommends ${CUDA_PACKAGES} && rm -rf /var/lib/apt/lists/*
COPY --from=cuda-build /opt/gpucall /opt/gpucall
ENV PATH=/opt/gpucall/bin:$PATH XDG_CACHE_HOME=/tmp NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
LABEL org.opencontainers.image.title="gpucall" \
      org.opencontainers.image.description="Array operations over gRPC, on an NVIDIA GPU" \
      org.opencontainers.image.version="0.1.0"
USER 10001:10001
EXPOSE 7625
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 CMD ["gpucall-server", "--probe=127.0.0.1:7625"]
ENTRYPOINT ["gpucall-server"]
CMD ["--listen=0.0.0.0:7625"]
