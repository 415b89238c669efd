/*
 * lp_clp_seed.cpp - what Clp's C interface cannot do: seed the random numbers of a model.
 *
 * When pivots look like a cycle, Clp chooses the next refactorisation at random, from a generator
 * that lives as long as the model. So the rounding of a solve would depend on how many draws
 * earlier solves took, and results on which thread ran which solve. Seeding before every solve
 * ends that.
 */
#define CLP_EXTERN_C
#include <coin/ClpSimplex.hpp>
#include <coin/Clp_C_Interface.h>

#include "lp/lp_clp_seed.h"

void lp_clp_seed(void *model)
{
    static_cast<Clp_Simplex *>(model)->model_->setRandomSeed(1234567);
}
