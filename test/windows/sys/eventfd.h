#include "lacking.h"
