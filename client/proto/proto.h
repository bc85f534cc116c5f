// Includes all of client/proto, for files that need most of it.
#pragma once

#include "client/proto/attributes.h"
#include "client/proto/compound.h"
#include "client/proto/status.h"
#include "client/proto/types.h"
