// Everything of NFSv4.1 on the wire, for those who need most of it.
#pragma once

#include "client/proto/attributes.h"
#include "client/proto/compound.h"
#include "client/proto/status.h"
#include "client/proto/types.h"
