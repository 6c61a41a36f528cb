// The rows of operations that are not elementwise.
#ifndef GPUCALL_SERVER_PROGRAM_CATALOGUE_ROWS_H_
#define GPUCALL_SERVER_PROGRAM_CATALOGUE_ROWS_H_

#include "absl/types/span.h"
#include "server/program/catalogue.h"

namespace gpucall {

// In the order of Catalogue(), which begins with the elementwise ones.
absl::Span<const CatalogueRow> FurtherRows();

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_CATALOGUE_ROWS_H_
