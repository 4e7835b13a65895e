# The application package (.ipuexe), reference/host-and-package.md 5 and, for the profile records that an Application
# refers to, 6. Ordinals and types of fields 0..14 of Application are the published ones, version 5. Fields from ordinal
# 15 on are ours (decisions.md A2); readers of the published format do not see them.
@0xd3bce605d3d25b4f;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tessera::schema");

struct Segment {
  address @0 :UInt32;
  memorySize @1 :UInt32;
  data @2 :Data;
  flags @3 :UInt32;  # 1 read, 2 write, 4 execute
}

struct TileImage {
  physicalTile @0 :UInt32;
  entryPoint @1 :UInt32;
  segments @2 :List(Segment);
  commandAddress @3 :UInt32;
  diagnosticAddress @4 :UInt32;
}

struct RegionSlice {
  tile @0 :UInt32;  # physical
  tileAddress @1 :UInt32;
  fileOffset @2 :UInt64;
  size @3 :UInt64;
}

struct Binding {
  name @0 :Text;
  dtype @1 :Text;
  shape @2 :List(UInt32);
  slices @3 :List(RegionSlice);
}

struct HostPage {
  index @0 :UInt32;
  size @1 :UInt64;
}

struct HostSlice {
  page @0 :UInt32;
  pageOffset @1 :UInt64;
  fileOffset @2 :UInt64;
  size @3 :UInt64;
}

struct HostCall {
  name @0 :Text;
  command @1 :UInt32;
  phases @2 :UInt32;
  inputs @3 :List(HostSlice);
  outputs @4 :List(HostSlice);
  invocations @5 :UInt32 = 1;
  inputBatchEnds @6 :List(UInt32);
  outputBatchEnds @7 :List(UInt32);
}

struct HostExchange {
  startupMark @0 :UInt32;
  commandPage @1 :UInt32;
  commandOffset @2 :UInt64;
  pages @3 :List(HostPage);
  attachOrder @4 :List(UInt32);
  calls @5 :List(HostCall);
}

struct EntryPoint {
  name @0 :Text;
  command @1 :UInt32;
  externalSyncs @2 :UInt32;
}

struct DeviceConfigWrite {
  offset @0 :UInt32;
  value @1 :UInt32;
}

enum StepKind {
  exchange @0;
  compute @1;
  synchronization @2;
  idle @3;
}

enum ExchangeActivityKind {
  send @0;
  receive @1;
  partnerBusy @2;
}

struct ExchangeActivity {
  kind @0 :ExchangeActivityKind;
  startCycle @1 :UInt32;
  endCycle @2 :UInt32;
  fanout @3 :UInt16;  # 0 = unknown
  paired @4 :Bool;
}

struct Metadata {
  name @0 :Text;
  value @1 :Text;
}

struct Step {
  localIndex @0 :UInt32;
  phase @1 :UInt32;
  epoch @2 :UInt32;
  operation @3 :Text;
  kind @4 :StepKind;
  kernel @5 :Text;
  metadata @6 :List(Metadata);
  exchangeActivities @7 :List(ExchangeActivity);
  exchangeEventCycles @8 :UInt32;
}

struct TileProfilePlan {
  physicalTile @0 :UInt32;
  steps @1 :List(Step);
}

struct DebugSymbol {
  name @0 :Text;
  address @1 :UInt32;
}

struct DebugRegion {
  physicalTile @0 :UInt32;  # 0xffffffff = all tiles
  address @1 :UInt32;
  size @2 :UInt32;
  name @3 :Text;
  count @4 :UInt32 = 1;  # ours: members of a sequence
  stride @5 :UInt32;     # ours: bytes between them
  tail @6 :UInt32;       # ours: bytes behind it (behind each member) that may be read and are never used
}

# --- ours ------------------------------------------------------------------------------------------------------------

enum BindingKind {
  input @0;
  weight @1;
  output @2;
}

# How one shard's bytes are arranged; tile, address and size stand in the slice of the same position.
struct ShardRecord {
  allocRows @0 :Int32;
  allocCols @1 :Int32;
  rowBegin @2 :Int32;
  rowEnd @3 :Int32;
  colBegin @4 :Int32;
  colEnd @5 :Int32;
}

# Affine map of one matrix axis to elements of a source tensor, outermost digit first.
struct PackAxis {
  sizes @0 :List(Int32);
  strides @1 :List(Int64);
  groupLogical @2 :Int32;
  groupPadded @3 :Int32;
}

struct PackPart {
  tensor @0 :Text;
  colBegin @1 :Int32;
  colEnd @2 :Int32;
  base @3 :Int64;
  rows @4 :PackAxis;
  cols @5 :PackAxis;
}

# One record a binding, in the order inputs, weights, outputs.
struct BindingRecord {
  kind @0 :BindingKind;
  order @1 :Text;  # name of the element order
  packedRows @2 :Int32;
  packedCols @3 :Int32;
  parts @4 :List(PackPart);
  shards @5 :List(ShardRecord);
}

# Value of a symbol that the code was assembled with (src/isa/flags.def).
struct IsaFlag {
  name @0 :Text;
  value @1 :UInt32;
  isGiven @2 :Bool;  # by the file isaFlagsSource; otherwise documented, or unverified
}

# One exchange phase. Quantities are scheduled, not measured.
struct PhaseRecord {
  name @0 :Text;
  repeats @1 :UInt32;
  transfers @2 :UInt32;
  words @3 :UInt64;
  horizonEvents @4 :UInt32;
  rowBytesMax @5 :UInt32;
}

# Where code comes from, the same on all tiles, ascending: from `address` to the next record it is line `line` of
# `sourceFiles[file]`; line 0: no source is known.
struct DebugLine {
  address @0 :UInt32;
  file @1 :UInt16;
  line @2 :UInt16;
}

# A buffer that a kernel call may read, or read and write: the debug regions of that name on the call's tile.
struct BufferUse {
  region @0 :Text;
  isWritten @1 :Bool;
}

struct CallUses {
  buffers @0 :List(BufferUse);
}

# A call of a kernel, known by the address that it returns to; ascending by tile, then address.
struct CallRecord {
  returnAddress @0 :UInt32;
  physicalTile @1 :UInt16;
  uses @2 :UInt16;  # index into callUses, which calls share
}

struct Application {
  schemaVersion @0 :UInt32;
  compilerVersion @1 :Text;
  target @2 :Text;
  tileMemoryBase @3 :UInt32;
  tileMemorySize @4 :UInt32;
  tiles @5 :List(TileImage);
  inputs @6 :List(Binding);
  outputs @7 :List(Binding);
  weights @8 :List(Binding);
  hostExchange @9 :HostExchange;
  entryPoints @10 :List(EntryPoint);
  deviceConfigWrites @11 :List(DeviceConfigWrite);
  profileTiles @12 :List(TileProfilePlan);
  debugSymbols @13 :List(DebugSymbol);
  debugRegions @14 :List(DebugRegion);

  bindingRecords @15 :List(BindingRecord);
  isaFlags @16 :List(IsaFlag);
  isaFlagsVerified @17 :Bool;
  phases @18 :List(PhaseRecord);
  model @19 :Text;
  graphDigest @20 :Text;
  tilesUsed @21 :UInt32;
  tileBytesMin @22 :UInt64;
  tileBytesMedian @23 :UInt64;
  tileBytesMax @24 :UInt64;
  sourceFiles @25 :List(Text);
  debugLines @26 :List(DebugLine);
  callUses @27 :List(CallUses);
  calls @28 :List(CallRecord);
  isaFlagsSource @29 :Text;
}
