-- Dissects RPC-over-RDMA version 2 on iWARP for Wireshark and tshark 4.0 and later: the header, chunk lists and
-- property operations, and the RPC messages with what went by RDMA put back. Wireshark itself knows version 1.
--
-- The header is that of draft-cel-nfsv4-rpcrdma-version-two-00 section 4.2, the properties those of
-- draft-ietf-nfsv4-rpcrdma-xcharext-03. A call with Read chunks is shown where the last of them arrives, so that one pass
-- is enough. A reply's Write chunks are put behind it: READ and READLINK are the last operations of those who use them.

local proto = Proto("rpcordma2", "RPC over RDMA version 2")

local VERSION = 2
local MSG, NOMSG, ERROR, OPTIONAL = 0, 1, 4, 5
local procs = { [0] = "RDMA_MSG", "RDMA_NOMSG", "RDMA_MSGP", "RDMA_DONE", "RDMA_ERROR", "RDMA_OPTIONAL" }
local errors = { "RDMA_ERR_VERS", "RDMA_ERR_BAD_HEADER", "RDMA_ERR_INVAL_OPTION" }
local options = { "ROPT_CONNPROP", "ROPT_REQPROP", "ROPT_RESPROP", "ROPT_UPDPROP" }
local properties = { "Receive Buffer Size", "Requester Remote Invalidation", "Backward Request Support" }
local RDMA_WRITE, READ_RESPONSE = 0, 2
-- What is kept of one handle: a capture can say that there is much.
local MOST_KEPT = 16 * 1024 * 1024

local f = proto.fields
f.xid = ProtoField.uint32("rpcordma2.xid", "XID", base.HEX)
f.version = ProtoField.uint32("rpcordma2.version", "Version")
f.credit = ProtoField.uint32("rpcordma2.flow_control", "Flow Control")
f.proc = ProtoField.uint32("rpcordma2.msg_type", "Message Type", base.DEC, procs)
f.position = ProtoField.uint32("rpcordma2.position", "Position in XDR")
f.handle = ProtoField.uint32("rpcordma2.rdma_handle", "RDMA handle", base.HEX)
f.length = ProtoField.uint32("rpcordma2.rdma_length", "RDMA length")
f.offset = ProtoField.uint64("rpcordma2.rdma_offset", "RDMA offset", base.HEX)
f.error = ProtoField.uint32("rpcordma2.errcode", "Error code", base.DEC, errors)
f.low = ProtoField.uint32("rpcordma2.vers_low", "Version low")
f.high = ProtoField.uint32("rpcordma2.vers_high", "Version high")
f.option = ProtoField.uint32("rpcordma2.opttype", "Optional operation", base.DEC, options)
f.property = ProtoField.uint32("rpcordma2.propid", "Property", base.DEC, properties)
f.value = ProtoField.uint32("rpcordma2.propvalue", "Value")
f.info = ProtoField.bytes("rpcordma2.optinfo", "Operation data")
local malformed = ProtoExpert.new("rpcordma2.malformed_header", "The header does not decode", expert.group.MALFORMED,
  expert.severity.ERROR)
proto.experts = { malformed }

local opcode_field = Field.new("iwarp_rdma.opcode")
local stag_field = Field.new("iwarp_ddp.stag")
local to_field = Field.new("iwarp_ddp.tagged_offset")
local sink_stag_field = Field.new("iwarp_rdma.sinkstag")
local sink_to_field = Field.new("iwarp_rdma.sinkto")
local source_stag_field = Field.new("iwarp_rdma.srcstag")
local source_to_field = Field.new("iwarp_rdma.srcto")

-- By connection: calls by XID, bytes by handle, reads by sink. And by frame what was made of it the first time.
local connections, made = {}, {}
function proto.init() connections, made = {}, {} end

local function connection_of(pinfo)
  local one = tostring(pinfo.src) .. ":" .. pinfo.src_port
  local two = tostring(pinfo.dst) .. ":" .. pinfo.dst_port
  local key = one < two and one .. " " .. two or two .. " " .. one
  if not connections[key] then connections[key] = { calls = {}, bytes = {}, reads = {} } end
  return connections[key]
end

local function last(field)
  local all = { field() }
  return all[#all] and all[#all].value
end

-- Bytes of memory, by handle: a list of pieces, each with its offset.
local function keep(connection, handle, offset, bytes)
  local memory = connection.bytes[handle] or { size = 0 }
  connection.bytes[handle] = memory
  if memory.size + bytes:len() > MOST_KEPT then return end
  memory.size = memory.size + bytes:len()
  memory[#memory + 1] = { offset = offset, bytes = bytes }
end

-- `length` bytes of a segment, or nil while some are missing. Pieces come in order.
local function content(connection, segment, length)
  local found = ByteArray.new()
  local memory = connection.bytes[segment.handle] or {}
  for _, piece in ipairs(memory) do
    if piece.offset == segment.offset + found:len() and found:len() < length then found = found .. piece.bytes end
  end
  if found:len() < length then return nil end
  return length == 0 and ByteArray.new() or found:subset(0, length)
end

local function padded(bytes)
  for _ = 1, (4 - bytes:len() % 4) % 4 do bytes = bytes .. ByteArray.new("00") end
  return bytes
end

-- The header's lists. `at` moves on; an error of Lua where the message ends says that it is malformed.
local function read_segment(tvb, at, tree)
  local segment = { handle = tvb(at, 4):uint(), length = tvb(at + 4, 4):uint(), offset = tvb(at + 8, 8):uint64() }
  tree:add(f.handle, tvb(at, 4))
  tree:add(f.length, tvb(at + 4, 4))
  tree:add(f.offset, tvb(at + 8, 8))
  return segment, at + 16
end

local function read_chunk(tvb, at, tree)
  local chunk = {}
  local count = tvb(at, 4):uint()
  at = at + 4
  for i = 1, count do
    local sub = tree:add(tvb(at, 16), "Segment " .. i)
    chunk[i], at = read_segment(tvb, at, sub)
  end
  return chunk, at
end

local function read_lists(tvb, at, tree)
  local lists = { reads = {}, writes = {} }
  while tvb(at, 4):uint() == 1 do
    local sub = tree:add(tvb(at, 24), "Read segment " .. #lists.reads + 1)
    sub:add(f.position, tvb(at + 4, 4))
    local position = tvb(at + 4, 4):uint()
    local segment
    segment, at = read_segment(tvb, at + 8, sub)
    segment.position = position
    lists.reads[#lists.reads + 1] = segment
  end
  at = at + 4
  while tvb(at, 4):uint() == 1 do
    lists.writes[#lists.writes + 1], at = read_chunk(tvb, at + 4, tree:add(tvb(at, 8), "Write chunk"))
  end
  at = at + 4
  if tvb(at, 4):uint() == 1 then
    lists.reply, at = read_chunk(tvb, at + 4, tree:add(tvb(at, 8), "Reply chunk"))
  else
    at = at + 4
  end
  return lists, at
end

-- A call with its Read chunks, which are in the order of their Positions; nil while some were not read.
local function whole_call(connection, call)
  local message, stream = ByteArray.new(), call.payload
  local chunks, order = {}, {}
  for _, segment in ipairs(call.lists.reads) do
    local bytes = content(connection, segment, segment.length)
    if not bytes then return nil end
    if not chunks[segment.position] then
      chunks[segment.position] = ByteArray.new()
      order[#order + 1] = segment.position
    end
    chunks[segment.position] = chunks[segment.position] .. bytes
  end
  if call.proc == NOMSG then
    if not chunks[0] then return nil end
    stream, chunks[0] = chunks[0], nil
  end
  table.sort(order)
  local done = 0
  for _, position in ipairs(order) do
    if chunks[position] then
      local step = math.max(0, math.min(position - message:len(), stream:len() - done))
      if step > 0 then message = message .. stream:subset(done, step) end
      done = done + step
      message = message .. padded(chunks[position])
    end
  end
  if done < stream:len() then message = message .. stream:subset(done, stream:len() - done) end
  return message
end

local function whole_reply(connection, proc, lists, payload)
  local message = payload
  local function add(chunk)
    local item = ByteArray.new()
    for _, segment in ipairs(chunk) do
      local bytes = content(connection, segment, segment.length)
      if not bytes then return false end
      item = item .. bytes
    end
    message = message .. padded(item)
    return true
  end
  if proc == NOMSG and not (lists.reply and add(lists.reply)) then return nil end
  for _, chunk in ipairs(lists.writes) do
    if not add(chunk) then return nil end
  end
  return message
end

-- What offers memory is forgotten with its bytes when the memory is offered again.
local function forget(connection, lists)
  local function each(chunk)
    for _, segment in ipairs(chunk or {}) do connection.bytes[segment.handle] = nil end
  end
  each(lists.reads)
  each(lists.reply)
  for _, chunk in ipairs(lists.writes) do each(chunk) end
end

local rpc = Dissector.get("rpc")
local function show(message, pinfo, root)
  if message and message:len() > 0 then rpc:call(message:tvb("RPC message"), pinfo, root) end
end

-- Frames are dissected again when they are looked at: the first time alone changes the state.
local function once(pinfo, name, make)
  local key = pinfo.number .. " " .. name
  if not pinfo.visited or made[key] == nil then made[key] = make() or false end
  return made[key]
end

local function is_call(proc, lists, payload)
  if proc == MSG then return payload:len() >= 8 and payload:subset(4, 4):tohex() == "00000000" end
  for _, segment in ipairs(lists.reads) do
    if segment.position == 0 then return true end
  end
  return false
end

local function dissect_rpc(tvb, at, pinfo, root, tree, proc)
  local lists
  lists, at = read_lists(tvb, at, tree)
  local payload = at < tvb:len() and tvb:bytes(at) or ByteArray.new()
  local name = tvb(0, 4):uint() .. " " .. proc .. " " .. tvb:len()
  local message = once(pinfo, name, function()
    local connection = connection_of(pinfo)
    if not is_call(proc, lists, payload) then return whole_reply(connection, proc, lists, payload) end
    forget(connection, lists)
    local call = { proc = proc, lists = lists, payload = payload }
    for _, segment in ipairs(lists.reads) do connection.calls[segment.handle] = call end
    return #lists.reads == 0 and payload or nil
  end)
  show(message, pinfo, root)
end

local function dissect_option(tvb, at, tree)
  local kind = tvb(at, 4):uint()
  tree:add(f.option, tvb(at, 4))
  local size = tvb(at + 4, 4):uint()
  at = at + 8
  if size == 0 then return end
  tree:add(f.info, tvb(at, size))
  if kind < 1 or kind > 4 then return end
  if kind == 3 then -- the subsets "done" and "rejected" stand first
    for _ = 1, 2 do at = at + 4 + 4 * tvb(at, 4):uint() end
  end
  local count = tvb(at, 4):uint()
  at = at + 4
  for _ = 1, count do
    local length = tvb(at + 4, 4):uint()
    local sub = tree:add(f.property, tvb(at, 4))
    if length == 4 then sub:add(f.value, tvb(at + 8, 4)) end
    at = at + 8 + math.floor((length + 3) / 4) * 4
  end
end

local function dissect_header(tvb, pinfo, root, tree)
  local proc = tvb(12, 4):uint()
  pinfo.cols.info:append(" " .. (procs[proc] or "rdma_proc " .. proc))
  tree:add(f.xid, tvb(0, 4))
  tree:add(f.version, tvb(4, 4))
  tree:add(f.credit, tvb(8, 4))
  tree:add(f.proc, tvb(12, 4))
  if proc == MSG or proc == NOMSG then
    dissect_rpc(tvb, 16, pinfo, root, tree, proc)
  elseif proc == ERROR then
    tree:add(f.error, tvb(16, 4))
    if tvb(16, 4):uint() == 1 then
      tree:add(f.low, tvb(20, 4))
      tree:add(f.high, tvb(24, 4))
    end
  elseif proc == OPTIONAL then
    dissect_option(tvb, 16, tree)
  end
end

-- Bytes of a Read chunk have come: the call that waits for them may be whole now.
local function on_read_response(connection, tvb)
  local sink, to = last(stag_field), last(to_field)
  for i, read in ipairs(connection.reads) do
    local within = read.sink == sink and to >= read.sink_to and to < read.sink_to + read.size
    if within then
      keep(connection, read.source, read.source_to + (to - read.sink_to), tvb:bytes())
      read.left = read.left - tvb:len()
      if read.left <= 0 then table.remove(connection.reads, i) end
      local call = connection.calls[read.source]
      local message = call and whole_call(connection, call)
      if not message then return nil end
      for _, segment in ipairs(call.lists.reads) do connection.calls[segment.handle] = nil end
      return message
    end
  end
end

local function dissect_tagged(tvb, pinfo, root, opcode)
  local to = last(to_field)
  if to == nil then return false end
  local connection = connection_of(pinfo)
  if not connection.version_two then return false end
  local name = opcode .. " " .. last(stag_field) .. " " .. tostring(to)
  show(once(pinfo, name, function()
    if opcode == READ_RESPONSE then return on_read_response(connection, tvb) end
    keep(connection, last(stag_field), to, tvb:bytes())
  end), pinfo, root)
  return true
end

local function heuristic(tvb, pinfo, root)
  local opcode = last(opcode_field)
  if opcode == RDMA_WRITE or opcode == READ_RESPONSE then return dissect_tagged(tvb, pinfo, root, opcode) end
  if tvb:len() < 20 or tvb(4, 4):uint() ~= VERSION or tvb(12, 4):uint() > OPTIONAL then return false end
  connection_of(pinfo).version_two = true
  local tree = root:add(proto, tvb())
  local ok = pcall(dissect_header, tvb, pinfo, root, tree)
  if not ok then tree:add_proto_expert_info(malformed) end
  return true
end
proto:register_heuristic("iwarp_ddp_rdmap", heuristic)

-- Read Requests carry no payload, so that only their fields tell of them, when their frame is done.
local watcher = Proto("rpcordma2_reads", "RPC over RDMA version 2: RDMA Reads")
local size_field = Field.new("iwarp_rdma.rdmardsz")
function watcher.dissector(_, pinfo)
  if pinfo.visited then return end
  local sinks, offsets, sizes = { sink_stag_field() }, { sink_to_field() }, { size_field() }
  local sources, source_offsets = { source_stag_field() }, { source_to_field() }
  for i = 1, math.min(#sinks, #offsets, #sizes, #sources, #source_offsets) do
    local reads = connection_of(pinfo).reads
    reads[#reads + 1] = { sink = sinks[i].value, sink_to = offsets[i].value, size = sizes[i].value,
      left = sizes[i].value, source = sources[i].value, source_to = source_offsets[i].value }
  end
end
register_postdissector(watcher)
