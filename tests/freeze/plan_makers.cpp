// SPDX-License-Identifier: BSD-2-Clause
#include "plan_makers.hpp"
#include "geometry.hpp"

#include "schemes/beside/beside_plans.hpp"
#include "schemes/fpga/task_form.hpp"
#include "schemes/fpga/task_plan.hpp"
#include "schemes/grids/grid_plan.hpp"
#include "schemes/halos.hpp"
#include "schemes/lanes/lane_plans.hpp"
#include "schemes/paper/paper_form.hpp"
#include "schemes/tiles/tile_plans.hpp"

namespace oclspkt::freeze {
namespace {

using Made = std::optional<Plan>;
using Lines = const LineSet&;
using Traits = const DeviceTraits&;

constexpr Index kHalo = 40;

class Makers {
 public:
  explicit Makers(Variant variant) : variant_(variant) {}
  template <typename F>
  void add(const std::string& name, Arrangement lines, Kind matrix, const F& make, bool only_double = false) {
    all.push_back({name, variant_, lines, matrix, only_double, make});
  }
  /// For a form by its number.
  template <typename F>
  void add_forms(const std::string& name, const F& make) {
    add(name, Arrangement::any, Kind::dominant, [=](Lines l, int word, Traits t) { return make(l, word, t); });
    add(name + " symmetric", Arrangement::any, Kind::symmetric, [=](Lines l, int word, Traits t) -> Made {
      Made plan = make(l, word, t);
      if (plan) plan->form = Form::symmetric;
      return plan;
    });
  }

  std::vector<PlanMaker> all;

 private:
  Variant variant_;
};

Made halo_plan(Lines lines, Index halo, Index partition, int word, Traits traits) {
  return make_plan(Method::truncated_halo, lines.rows(), halo, partition, word, traits);
}

Made streamed_plan(Lines lines, int word, DeviceTraits traits) {
  traits.lanes = traits.tile_lanes;
  Plan plan = make_plan(Method::truncated_halo, lines.rows(), 0, 0, word, traits);
  return stream_tiles(plan, kHalo, word, traits) ? Made(plan) : std::nullopt;
}

/// Stored factors by lanes.
void add_stored(Makers& makers) {
  const auto stored = [](Lines lines, Index reach, int word, Traits traits) {
    return make_stored_plan(lines.rows(), reach, 0, word, traits);
  };
  for (const Index reach : {0, 20}) {
    makers.add("stored reach " + std::to_string(reach), Arrangement::any, Kind::dominant,
               [=](Lines l, int word, Traits t) { return Made(stored(l, reach, word, t)); });
  }
  const auto changed = [&](const std::string& name, Arrangement lines, Kind kind, const auto& change,
                           bool only_double = false) {
    makers.add(
        name, lines, kind,
        [=](Lines l, int word, Traits t) {
          Plan plan = stored(l, 0, word, t);
          return change(plan, l, word, t) ? Made(plan) : std::nullopt;
        },
        only_double);
  };
  changed("stored by the device", Arrangement::any, Kind::dominant, [](Plan& p, Lines, int, Traits) {
    p.as<StoredFactors>().lead_in = p.lanes;
    return true;
  });
  changed("stored symmetric", Arrangement::any, Kind::symmetric,
          [](Plan& p, Lines, int word, Traits t) { return make_symmetric(p, word, t); });
  changed("stored symmetric by the device", Arrangement::any, Kind::symmetric, [](Plan& p, Lines, int word, Traits t) {
    p.as<StoredFactors>().lead_in = p.lanes;
    return make_symmetric(p, word, t);
  });
  changed("stored corrected", Arrangement::any, Kind::weak,
          [](Plan& p, Lines, int, Traits) { return p.as<StoredFactors>().corrects = true; });
  changed("stored lines shared", Arrangement::equal, Kind::alike,
          [](Plan& p, Lines l, int word, Traits t) { return share_lines(p, l.length(0), true, word, t); });
  changed("stored rows shared", Arrangement::any, Kind::alike,
          [](Plan& p, Lines l, int, Traits) { return l.count() == 1 && share_rows(p, p.n); });
  for (const bool symmetric : {false, true}) {
    changed(
        symmetric ? "stored narrow symmetric" : "stored narrow", Arrangement::any,
        symmetric ? Kind::symmetric : Kind::dominant,
        [=](Plan& p, Lines, int word, Traits t) {
          p.narrow = true;
          return !symmetric || make_symmetric(p, word, t);
        },
        true);
  }
}

/// Tiles of work-groups: what suits their plan besides a form.
void add_tiles(Makers& makers) {
  for (const Index partition : {0, 4, 8}) {
    makers.add_forms("tiles " + std::to_string(partition),
                     [=](Lines l, int word, Traits t) { return halo_plan(l, kHalo, partition, word, t); });
    makers.add_forms("runs " + std::to_string(partition), [=](Lines l, int word, Traits t) {
      return Made(make_run_plan(l.rows(), kHalo, partition, word, t));
    });
    makers.add_forms("reduces " + std::to_string(partition),
                     [=](Lines l, int word, Traits t) { return Made(make_reduce_plan(l.rows(), partition, word, t)); });
  }
  makers.add_forms("tiles settled", [](Lines l, int word, Traits t) {
    Made plan = halo_plan(l, kHalo, 0, word, t);
    couple_within_halo(*plan);
    return plan;
  });
  makers.add_forms("runs corrected", [](Lines l, int word, Traits t) {
    Made plan = make_run_plan(l.rows(), kHalo, 0, word, t);
    correct_runs(*plan, word, t);
    return plan;
  });
  for (const bool runs : {false, true}) {
    makers.add(
        runs ? "runs narrow" : "tiles narrow", Arrangement::any, Kind::symmetric,
        [=](Lines l, int word, Traits t) {
          Made plan = runs ? make_run_plan(l.rows(), kHalo, 0, word, t) : *halo_plan(l, kHalo, 0, word, t);
          plan->form = Form::symmetric;
          return keep_narrow(*plan) ? plan : std::nullopt;
        },
        true);
    makers.add(runs ? "runs shared" : "tiles shared", Arrangement::equal, Kind::alike,
               [=](Lines l, int word, Traits t) {
                 Made plan = runs ? make_run_plan(l.rows(), kHalo, 0, word, t) : *halo_plan(l, kHalo, 0, word, t);
                 return share_line(*plan, l.length(0), word) ? plan : std::nullopt;
               });
  }
}

/// Work-groups that hold or stream whole lines, or keep the factors of parts.
void add_lines(Makers& makers) {
  const auto whole = [](Lines l, int word, Traits t) -> Made {
    const Index partition = partition_of_whole_lines(l, word, t);
    return partition > 0 ? Made(make_whole_lines_plan(l, partition, word, t)) : std::nullopt;
  };
  makers.add("whole lines", Arrangement::equal, Kind::dominant, whole);
  for (const bool holds : {false, true}) {
    for (const bool symmetric : {false, true}) {
      makers.add(std::string(holds ? "whole lines kept" : "parts kept") + (symmetric ? " mirrored" : ""),
                 Arrangement::equal, Kind::alike, [=](Lines l, int word, Traits t) -> Made {
                   Made plan = holds ? whole(l, word, t) : halo_plan(l, kHalo, 0, word, t);
                   if (!plan || !share_line(*plan, l.length(0), word)) return std::nullopt;
                   if (!keep_factors(*plan, l.length(0), word, t)) return std::nullopt;
                   if (symmetric) make_factors_symmetric(*plan, l.length(0), word, t);
                   return plan;
                 });
    }
  }
  constexpr std::size_t kMostLineRuns = 3;
  for (std::size_t i = 0; i < kMostLineRuns; ++i) {
    for (const Form form : {Form::general, Form::symmetric}) {
      makers.add("runs of lines " + std::to_string(i) + " " + oclspkt::name(form), Arrangement::equal,
                 form == Form::general ? Kind::dominant : Kind::symmetric, [=](Lines l, int word, Traits t) -> Made {
                   const std::vector<Plan> plans = make_line_runs_plans(l.rows(), l.length(0), form, word, t);
                   return i < plans.size() ? Made(plans[i]) : std::nullopt;
                 });
    }
  }
}

void add_paper(std::vector<PlanMaker>& all) {
  Makers makers(Variant::paper_gpu);
  for (const Index m : {4, 32, 40, 500}) {
    makers.add("paper " + std::to_string(m), Arrangement::any, Kind::dominant,
               [=](Lines l, int word, Traits t) { return Made(make_paper_plan(l.rows(), m, word, t)); });
  }
  all.insert(all.end(), makers.all.begin(), makers.all.end());
}

void add_paper_lanes(Makers& makers) {
  for (const auto& [m, m_min] : {std::pair<Index, Index>{0, 40}, {80, 40}}) {
    makers.add("paper by lanes " + std::to_string(m), Arrangement::any, Kind::dominant,
               [m = m, m_min = m_min](Lines l, int word, Traits t) {
                 return Made(make_paper_lanes_plan(l.rows(), m > 0 ? m : paper_lanes_partition(l.rows(), word, t),
                                                   m_min, "lanes-paper", word, t));
               });
  }
}

Kind kind_for(Form form) {
  return form == Form::shared ? Kind::alike : form == Form::symmetric ? Kind::symmetric : Kind::dominant;
}

void add_grid_demand(Makers& makers, const std::string& name, GridDemand demand) {
  for (const Form form : {Form::general, Form::shared, Form::symmetric}) {
    demand.form = form;
    makers.add("grid " + name + " " + oclspkt::name(form), Arrangement::beside, kind_for(form),
               [=](Lines l, int word, Traits t) { return Made(make_grid_plan(l, demand, word, t)); });
  }
}

/// Exact, row by row and by lines in turn.
void add_exact_tasks(Makers& makers) {
  const auto add_both = [&](const std::string& name, Arrangement lines, const char* scheme, const auto& make) {
    for (const Form form : {Form::general, Form::symmetric}) {
      makers.add(name + " " + oclspkt::name(form), lines, kind_for(form), [=](Lines l, int word, Traits t) -> Made {
        Made plan = make(l, word, t);
        if (!plan) return plan;
        plan->made_by = scheme;
        plan->form = form;
        return plan;
      });
    }
  };
  const auto batch = [](Lines l, int word, Traits t) { return make_batch_plan(l, word, t); };
  add_both("row by row", Arrangement::any, "fpga-tdma",
           [](Lines l, int word, Traits t) { return Made(make_tdma_plan(l.rows(), 0, word, t)); });
  add_both("lines in turn", Arrangement::equal, "fpga-batch", batch);
  add_both("lines side by side in turn", Arrangement::beside, "fpga-batch", batch);
}

}  // namespace

std::vector<PlanMaker> makers_for_cpus() {
  Makers makers(Variant::cpu);
  const Arrangement any = Arrangement::any;
  for (const Index halo : {Index{8}, kHalo}) {
    for (const Index partition : {0, 48}) {
      makers.add("halo " + std::to_string(halo) + " partition " + std::to_string(partition), any, Kind::dominant,
                 [=](Lines l, int word, Traits t) { return halo_plan(l, halo, partition, word, t); });
    }
  }
  makers.add("walk", any, Kind::dominant, streamed_plan);
  makers.add("whole lines of lanes", Arrangement::equal, Kind::dominant, [](Lines l, int word, Traits t) -> Made {
    const Index partition = partition_of_whole_lines(l, word, t);
    return partition > 0 ? Made(make_whole_lines_plan(l, partition, word, t)) : std::nullopt;
  });
  add_stored(makers);
  add_paper_lanes(makers);
  makers.add("twisted", any, Kind::weak,
             [](Lines l, int word, Traits t) { return Made(make_twisted_plan(l.rows(), 0, word, t)); });
  for (const Index partition : {0, 48}) {
    makers.add("twopass " + std::to_string(partition), any, Kind::poisson, [=](Lines l, int word, Traits t) {
      return Made(make_plan(Method::exact_twopass, l.rows(), 0, partition, word, t));
    });
  }
  for (const Form form : {Form::general, Form::shared, Form::symmetric}) {
    for (const bool narrow : {false, true}) {
      makers.add(
          std::string("factored ") + oclspkt::name(form) + (narrow ? " narrow" : ""), Arrangement::beside,
          kind_for(form),
          [=](Lines l, int word, Traits t) {
            Plan plan = make_factored_plan(l, form, word, t);
            plan.narrow = narrow && form != Form::shared;
            return Made(plan);
          },
          narrow);
    }
  }
  for (const Index partition : {0, 8}) {
    makers.add("segments " + std::to_string(partition), Arrangement::beside, Kind::dominant,
               [=](Lines l, int word, Traits t) { return Made(make_strided_halo_plan(l, 17, partition, word, t)); });
  }
  return makers.all;
}

std::vector<PlanMaker> makers_for_gpus() {
  Makers makers(Variant::gpu);
  add_tiles(makers);
  add_lines(makers);
  add_paper(makers.all);
  return makers.all;
}

std::vector<PlanMaker> makers_of_grids() {
  Makers makers(Variant::gpu);
  constexpr Method kExact = Method::exact_factored;
  for (const Index reach : {0, 64, 192, 384})
    add_grid_demand(makers, "streamed " + std::to_string(reach), {.reach = reach});
  add_grid_demand(makers, "streamed of 4 rows", {.reach = 64, .item_rows = 4});
  add_grid_demand(makers, "exact", {.method = kExact});
  add_grid_demand(makers, "exact in turn", {.method = kExact, .in_turn = true});
  add_grid_demand(makers, "exact by one item", {.method = kExact, .one_item = true});
  add_grid_demand(makers, "folded", {.method = kExact, .segments = true});
  add_grid_demand(makers, "folded of 4 rows", {.method = kExact, .item_rows = 4, .segments = true});
  add_grid_demand(makers, "folded in turn", {.method = kExact, .in_turn = true, .segments = true});
  constexpr std::size_t kMostExact = 3;
  for (std::size_t i = 0; i < kMostExact; ++i) {
    for (const Form form : {Form::general, Form::shared, Form::symmetric}) {
      makers.add("grid fastest exact " + std::to_string(i) + " " + oclspkt::name(form), Arrangement::beside,
                 kind_for(form), [=](Lines l, int word, Traits t) -> Made {
                   const std::vector<Plan> plans = make_exact_grid_plans(l, {.form = form}, word, t);
                   return i < plans.size() ? Made(plans[i]) : std::nullopt;
                 });
    }
  }
  return makers.all;
}

std::vector<PlanMaker> makers_for_fpgas() {
  Makers makers(Variant::fpga);
  for (const char* const scheme : {"fpga-spktrunc", "fpga-spkboth", "fpga-spkjac"}) {
    makers.add_forms(scheme, [=](Lines l, int word, Traits t) {
      return Made(make_task_plan(l.rows(), kTaskRows, scheme, word, t));
    });
  }
  add_exact_tasks(makers);
  return makers.all;
}

}  // namespace oclspkt::freeze
