#include "run.hpp"
namespace oclspkt::bench::paper {
void add_operations(const Plan&, std::vector<Piece>&) {}
}  // namespace oclspkt::bench::paper
