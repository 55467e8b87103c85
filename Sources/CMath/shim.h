// The functions of the C mathematics library that the module Attribution needs, so that it imports no system module.

#ifndef CMATH_SHIM_H
#define CMATH_SHIM_H

#include <math.h>

static inline double cmath_exp(double x) { return exp(x); }
static inline double cmath_exp2(double x) { return exp2(x); }
static inline double cmath_log(double x) { return log(x); }
static inline double cmath_erfc(double x) { return erfc(x); }

#endif
