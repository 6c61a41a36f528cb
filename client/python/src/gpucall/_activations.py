"""Activation functions, with NumPy's names."""

from __future__ import annotations

from gpucall._elementwise_call import ElementwiseCaller
from gpucall._operations import Operand, Result


class Activations(ElementwiseCaller[Operand, Result]):
    """Activation functions of neural networks."""

    def erf(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Error function.

        Examples
        --------
        >>> c.erf(np.float64([0, 1])).round(3)
        array([0.   , 0.843])
        """
        return self._elementwise("erf", x, timeout=timeout)

    def gelu(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """x * (1 + erf(x / sqrt(2))) / 2.

        Examples
        --------
        >>> c.gelu(np.float32([-1, 2])).round(3)
        array([-0.159,  1.954], dtype=float32)
        """
        return self._elementwise("gelu", x, timeout=timeout)

    def gelu_tanh(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """gelu by its tanh approximation.

        Examples
        --------
        >>> c.gelu_tanh(np.float32([-1, 2])).round(3)
        array([-0.159,  1.955], dtype=float32)
        """
        return self._elementwise("gelu_tanh", x, timeout=timeout)

    def silu(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """x * sigmoid(x).

        Examples
        --------
        >>> c.silu(np.float32([-1, 2])).round(3)
        array([-0.269,  1.762], dtype=float32)
        """
        return self._elementwise("silu", x, timeout=timeout)

    def softplus(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """log(1 + exp(x)).

        Examples
        --------
        >>> c.softplus(np.float32([0, 2])).round(3)
        array([0.693, 2.127], dtype=float32)
        """
        return self._elementwise("softplus", x, timeout=timeout)

    def leaky_relu(
        self,
        x: Operand,
        /,
        slope: Operand | float = 0.01,
        *,
        timeout: float | None = None,
    ) -> Result:
        """`x` where it is above 0, else slope * x.

        Examples
        --------
        >>> c.leaky_relu(np.float32([-2, 3]), 0.5)
        array([-1.,  3.], dtype=float32)
        """
        return self._elementwise("leaky_relu", x, slope, timeout=timeout)
