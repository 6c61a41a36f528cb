#include "kernels/cuda/elementwise_source.h"

#include <algorithm>
#include <cstddef>

#include "kernels/cuda/elementwise_unrolling.h"
#include "kernels/cuda/embedded_text.h"

namespace gpucall::cuda {
namespace {

struct TypeRow {
  std::string_view name;
  int size_bytes;
};
constexpr TypeRow kTypes[] = {
#define GPUCALL_DTYPE(Name, name, kind, size_bytes, Type) {#Type, size_bytes},
#include "kernels/dtypes.def"
#undef GPUCALL_DTYPE
};

std::string NameOf(ElementType type) { return std::string(TypeName(type)); }

bool IsHalf(ElementType type) {
  return type == ElementType::kFloat16 || type == ElementType::kBfloat16;
}

// As registers hold it: halves as floats that are exactly theirs.
std::string ComputedName(ElementType type) {
  return NameOf(IsHalf(type) ? ElementType::kFloat32 : type);
}

// As stored: bytes given as bool may hold more than 0 and 1.
std::string StoredName(ElementType type) {
  return NameOf(type == ElementType::kBool ? ElementType::kUint8 : type);
}

std::string Number(int64_t value) { return std::to_string(value); }

std::string Indexed(std::string_view name, size_t index) {
  std::string indexed(name);
  indexed.append(std::to_string(index));
  return indexed;
}

// Appends its arguments and a new line.
template <typename... Parts>
void Line(std::string& source, const Parts&... parts) {
  (source.append(parts), ...);
  source.append("\n");
}

// The words that WriteElementwiseRow writes.
void WriteRowStruct(const ElementwiseKernel& kernel, std::string& source) {
  Line(source, "struct Row {");
  Line(source, "  long long first_block, count;");
  Line(source, "  int* fault;");
  Line(source, "  long long aligned;");
  for (size_t i = 0; i < kernel.inputs.size(); ++i) {
    Line(source, "  const ", StoredName(kernel.inputs[i].type), "* ", Indexed("in", i), ";");
  }
  for (size_t i = 0; i < kernel.outputs.size(); ++i) {
    const ElementType type = RegisterType(kernel, kernel.outputs[i]);
    Line(source, "  ", StoredName(type), "* ", Indexed("out", i), ";");
  }
  if (kernel.rank > 0) {
    Line(source, "  long long sizes[", Number(kernel.rank), "];");
    for (size_t i = 0; i < kernel.inputs.size(); ++i) {
      if (kernel.inputs[i].mode != ReadMode::kStrided) continue;
      Line(source, "  long long ", Indexed("strides", i), "[", Number(kernel.rank), "];");
    }
  }
  Line(source, "};");
}

// Declares g<i> (groups of full inputs), s<i> (scalars) and h<i> (groups of outputs).
void WriteLoads(const ElementwiseKernel& kernel, std::string& source) {
  for (size_t i = 0; i < kernel.inputs.size(); ++i) {
    const std::string type = StoredName(kernel.inputs[i].type);
    if (kernel.inputs[i].mode == ReadMode::kFull) {
      Line(source, "  e::Group<", type, ", kWidth> ", Indexed("g", i), "[kVectors];");
      Line(source, "  e::Load(", Indexed("row.in", i), ", index, row.count, whole, ",
           Indexed("g", i), ");");
    } else if (kernel.inputs[i].mode == ReadMode::kScalar) {
      Line(source, "  const ", type, " ", Indexed("s", i), " = *", Indexed("row.in", i), ";");
    }
  }
  for (size_t i = 0; i < kernel.outputs.size(); ++i) {
    const ElementType type = RegisterType(kernel, kernel.outputs[i]);
    Line(source, "  e::Group<", StoredName(type), ", kWidth> ", Indexed("h", i), "[kVectors];");
  }
}

std::string InputExpression(const ElementwiseKernel& kernel, size_t i) {
  switch (kernel.inputs[i].mode) {
    case ReadMode::kFull:
      return Indexed("g", i) + "[v].at[k]";
    case ReadMode::kScalar:
      return Indexed("s", i);
    case ReadMode::kStrided:
      return Indexed("row.in", i) + "[position.Offset(" + Indexed("row.strides", i) + ")]";
  }
  return "";
}

// Register `index` as one of `type`.
std::string Operand(const ElementwiseKernel& kernel, uint16_t index, ElementType type) {
  const std::string name = Indexed("r", index);
  const std::string from = ComputedName(RegisterType(kernel, index)), to = ComputedName(type);
  return from == to ? name : "e::Cast<" + to + ">(" + name + ")";
}

// `expression`, a float, as the nearest of `type` that registers hold.
std::string Rounded(ElementType type, const std::string& expression) {
  if (!IsHalf(type)) return expression;
  return "e::Widened(e::Narrowed<" + NameOf(type) + ">(" + expression + "))";
}

std::string CastExpression(const ElementwiseKernel& kernel,
                           const ElementwiseKernel::Instruction& instruction) {
  const std::string name = Indexed("r", instruction.operands[0]);
  const ElementType from = RegisterType(kernel, instruction.operands[0]);
  if (from == instruction.result) return name;
  const std::string cast = "e::Cast<" + NameOf(instruction.result) + ">(" + name + ")";
  return IsHalf(instruction.result) ? "e::Widened(" + cast + ")" : cast;
}

std::string CallExpression(const ElementwiseKernel& kernel,
                           const ElementwiseKernel::Instruction& instruction) {
  if (instruction.function == "Cast") return CastExpression(kernel, instruction);
  const bool by_bits = IsHalf(instruction.type) && instruction.function == "NextAfter";
  std::string call = "e::" + std::string(instruction.function);
  for (size_t i = 0; i < instruction.operand_count; ++i) {
    const bool condition = instruction.selects && i == 0;
    const std::string operand =
        Operand(kernel, instruction.operands[i], condition ? ElementType::kBool : instruction.type);
    call += i == 0 ? "(" : ", ";
    call += by_bits ? "e::Narrowed<" + NameOf(instruction.type) + ">(" + operand + ")" : operand;
  }
  call += ")";
  if (by_bits) return "e::Widened(" + call + ")";
  return instruction.selects ? call : Rounded(instruction.result, call);
}

void WriteInstruction(const ElementwiseKernel& kernel, size_t index, std::string& source) {
  const ElementwiseKernel::Instruction& instruction = kernel.instructions[index];
  if (instruction.faults) {
    const std::string exponent = Operand(kernel, instruction.operands[1], instruction.type);
    Line(source, "      if (e::PowerFaults(", exponent, ")) fault = e::FaultWord(", exponent, ");");
  }
  Line(source, "      const ", ComputedName(instruction.result), " ",
       Indexed("r", kernel.inputs.size() + index), " = ", CallExpression(kernel, instruction), ";");
}

std::string Loaded(ElementType type, const std::string& expression) {
  if (type == ElementType::kBool) return expression + " != 0";
  return IsHalf(type) ? "e::Widened(" + expression + ")" : expression;
}
std::string Stored(ElementType type, const std::string& name) {
  return IsHalf(type) ? "e::Narrowed<" + NameOf(type) + ">(" + name + ")" : name;
}

// The loop over a thread's elements: r<i> are the registers of one.
void WriteCompute(const ElementwiseKernel& kernel, std::string& source) {
  Line(source, "#pragma unroll");
  Line(source, "  for (int v = 0; v < kVectors; ++v) {");
  if (kernel.rank > 0) {
    Line(source, "    e::Position<", Number(kernel.rank), "> position(row.sizes, index + ",
         "v * e::kThreads * kWidth, row.count);");
  }
  Line(source, "#pragma unroll");
  Line(source, "    for (int k = 0; k < kWidth; ++k) {");
  for (size_t i = 0; i < kernel.inputs.size(); ++i) {
    const ElementType type = kernel.inputs[i].type;
    Line(source, "      const ", ComputedName(type), " ", Indexed("r", i), " = ",
         Loaded(type, InputExpression(kernel, i)), ";");
  }
  for (size_t i = 0; i < kernel.instructions.size(); ++i) WriteInstruction(kernel, i, source);
  for (size_t i = 0; i < kernel.outputs.size(); ++i) {
    const ElementType type = RegisterType(kernel, kernel.outputs[i]);
    Line(source, "      ", Indexed("h", i),
         "[v].at[k] = ", Stored(type, Indexed("r", kernel.outputs[i])), ";");
  }
  if (kernel.rank > 0) Line(source, "      position.Next(row.sizes);");
  Line(source, "    }");
  Line(source, "  }");
}

bool Faults(const ElementwiseKernel& kernel) {
  return std::ranges::any_of(kernel.instructions, &ElementwiseKernel::Instruction::faults);
}

}  // namespace

std::string_view TypeName(ElementType type) { return kTypes[static_cast<size_t>(type)].name; }

ElementType RegisterType(const ElementwiseKernel& kernel, size_t index) {
  return index < kernel.inputs.size() ? kernel.inputs[index].type
                                      : kernel.instructions[index - kernel.inputs.size()].result;
}

int ElementBytes(ElementType type) { return kTypes[static_cast<size_t>(type)].size_bytes; }

std::string ElementwisePrelude(NumberKinds kinds) {
  std::string source = "#define GPUCALL_FN __device__\n";
  source.append(kElementwiseHalfText);
  source.append(kElementwiseTypesText);
  source.append(kElementwiseFunctionsText);
  source.append(kElementwiseMathText);
  if (kinds == NumberKinds::kAll) {
    source.append(kElementwiseComplexText);
    source.append(kElementwiseComplexMathText);
  }
  source.append(kElementwiseTileText);
  source.append("namespace e = gpucall::elementwise;\n");
  source.append("using e::Float16;\nusing e::Bfloat16;\nusing e::Complex;\n");
  return source;
}

std::string ElementwiseSource(const ElementwiseKernel& kernel, std::string_view name) {
  const Unrolling unrolling = ChooseUnrolling(kernel);
  std::string source;
  Line(source, "namespace ", name, "_code {");
  WriteRowStruct(kernel, source);
  Line(source, "constexpr int kWidth = ", Number(unrolling.width),
       ", kVectors = ", Number(unrolling.vectors), ";");
  Line(source, "extern \"C\" __global__ void __launch_bounds__(", Number(kElementwiseThreads), ")");
  Line(source, name, "(const __grid_constant__ Row only, const Row* table, int row_count) {");
  Line(source, "  const Row& row = row_count == 1 ? only : e::FindRow(table, row_count);");
  Line(source, "  const long long index = e::FirstIndex(row, kWidth, kVectors);");
  Line(source, "  const bool whole = e::IsWhole(row, kWidth, kVectors);");
  WriteLoads(kernel, source);
  if (Faults(kernel)) Line(source, "  int fault = 0;");
  WriteCompute(kernel, source);
  for (size_t i = 0; i < kernel.outputs.size(); ++i) {
    Line(source, "  e::Store(", Indexed("row.out", i), ", index, row.count, whole, ",
         Indexed("h", i), ");");
  }
  if (Faults(kernel)) Line(source, "  if (fault != 0) *row.fault = fault;");
  Line(source, "}");
  Line(source, "}  // namespace ", name, "_code");
  return source;
}

NumberKinds KindsOf(const ElementwiseKernel& kernel) {
  const auto is_complex = [](const auto& of) { return IsComplex(of.type); };
  const bool any = std::ranges::any_of(kernel.inputs, is_complex) ||
                   std::ranges::any_of(kernel.instructions, is_complex);
  return any ? NumberKinds::kAll : NumberKinds::kReal;
}

std::string ElementwiseSignature(const ElementwiseKernel& kernel) {
  std::string signature = Number(kernel.rank);
  for (const auto& input : kernel.inputs) {
    signature += Indexed("i", static_cast<size_t>(input.type));
    signature += Indexed(".", static_cast<size_t>(input.mode));
  }
  for (const auto& instruction : kernel.instructions) {
    signature += Indexed(instruction.function, static_cast<size_t>(instruction.type));
    signature += Indexed(":", static_cast<size_t>(instruction.result));
    for (size_t i = 0; i < instruction.operand_count; ++i) {
      signature += Indexed(",", instruction.operands[i]);
    }
    if (instruction.selects) signature += "s";
    if (instruction.faults) signature += "f";
  }
  for (const uint16_t output : kernel.outputs) signature += Indexed("o", output);
  return signature;
}

int64_t ElementwiseTile(const ElementwiseKernel& kernel) {
  const Unrolling unrolling = ChooseUnrolling(kernel);
  return int64_t{kElementwiseThreads} * unrolling.width * unrolling.vectors;
}

std::vector<std::string> ElementwiseOptions(int compute_capability) {
  return {"--gpu-architecture=sm_" + std::to_string(compute_capability), "--std=c++20",
          "--fmad=false", "--disable-warnings"};
}

}  // namespace gpucall::cuda
