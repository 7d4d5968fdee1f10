/* The kernels for any processor. */
#include <math.h>
#include <string.h>

#include "native.h"

#include "lanes_plain.h"

#include "kernels.h"
