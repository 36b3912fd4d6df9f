// Ops by which a graph reaches out of itself: files, code, sockets.
#include <array>

#include "check/nodes.h"

namespace gedit {
namespace {

struct UnsafeOp {
  std::string_view op;  // a trailing `*`: any op that begins so
  std::string_view does;
};

// By what their kernels do (core/kernels, core/ops/io_ops.cc, contrib). Savers and table initializers read
// and write where their caller or an asset says, so they are only warned of.
constexpr std::array kUnsafe{
    UnsafeOp{"ReadFile", "reads a file"},
    UnsafeOp{"WriteFile", "writes a file"},
    UnsafeOp{"MatchingFiles", "lists files"},
    UnsafeOp{"PrintV2", "can write to a file"},
    UnsafeOp{"DebugIdentity*", "writes to files or sockets"},
    UnsafeOp{"DebugNanCount", "writes to files or sockets"},
    UnsafeOp{"DebugNumericSummary*", "writes to files or sockets"},
    UnsafeOp{"ImmutableConst", "maps a file"},
    UnsafeOp{"WholeFileReader*", "reads files"},
    UnsafeOp{"TextLineReader*", "reads files"},
    UnsafeOp{"FixedLengthRecordReader*", "reads files"},
    UnsafeOp{"TFRecordReader*", "reads files"},
    UnsafeOp{"LMDBReader", "reads files"},
    UnsafeOp{"BigQueryReader", "opens a socket"},
    UnsafeOp{"GenerateBigQueryReaderPartitions", "opens a socket"},
    UnsafeOp{"TextLineDataset*", "reads files"},
    UnsafeOp{"TFRecordDataset*", "reads files"},
    UnsafeOp{"FixedLengthRecordDataset*", "reads files"},
    UnsafeOp{"CSVDataset*", "reads files"},
    UnsafeOp{"ExperimentalCSVDataset", "reads files"},
    UnsafeOp{"LMDBDataset", "reads files"},
    UnsafeOp{"ExperimentalLMDBDataset", "reads files"},
    UnsafeOp{"SqlDataset", "opens a database"},
    UnsafeOp{"ExperimentalSqlDataset", "opens a database"},
    UnsafeOp{"MatchingFilesDataset", "lists files"},
    UnsafeOp{"ExperimentalMatchingFilesDataset", "lists files"},
    UnsafeOp{"CacheDataset*", "writes and reads files"},
    UnsafeOp{"SaveDataset*", "writes files"},
    UnsafeOp{"LoadDataset*", "reads files"},
    UnsafeOp{"SnapshotDataset*", "writes and reads files"},
    UnsafeOp{"SnapshotDatasetReader", "reads files"},
    UnsafeOp{"ListSnapshotChunksDataset", "lists files"},
    UnsafeOp{"DistributedSave", "writes files"},
    UnsafeOp{"DatasetToTFRecord*", "writes a file"},
    UnsafeOp{"ExperimentalDatasetToTFRecord", "writes a file"},
    UnsafeOp{"DataServiceDataset*", "opens a socket"},
    UnsafeOp{"RegisterDataset*", "opens a socket"},
    UnsafeOp{"CreateSummaryFileWriter", "writes files"},
    UnsafeOp{"CreateSummaryDbWriter", "opens a database"},
    UnsafeOp{"KafkaDataset", "opens a socket"},
    UnsafeOp{"KinesisDataset", "opens a socket"},
    UnsafeOp{"BigtableClient", "opens a socket"},
    UnsafeOp{"DecodeVideo", "runs a program"},
    UnsafeOp{"DecodeAudio", "runs a program"},
    UnsafeOp{"DecodeAudioV2", "runs a program"},
    UnsafeOp{"EncodeAudio", "runs a program"},
    UnsafeOp{"PyFunc*", "runs Python"},
    UnsafeOp{"EagerPyFunc", "runs Python"},
    UnsafeOp{"LoadLibrary", "loads a library"},
    UnsafeOp{"RemoteFusedGraphExecute", "loads a library"},
    UnsafeOp{"Rpc*", "opens a socket"},
    UnsafeOp{"TryRpc", "opens a socket"},
    UnsafeOp{"RemoteCall", "runs on another machine"},
    UnsafeOp{"TfLiteSubgraphExecute", "runs another model"},
    UnsafeOp{"TRTEngineOp", "runs an engine that it holds"},
    UnsafeOp{"CreateTRTResourceHandle", "runs an engine"},
    UnsafeOp{"InitializeTRTResource", "reads a file"},
    UnsafeOp{"LoadAndRemapMatrix", "reads a checkpoint"},
    UnsafeOp{"GenerateVocabRemapping", "reads a file"},
    UnsafeOp{"ConfigureDistributedTPU", "opens a socket"},
};
constexpr std::array kCallerSays{
    UnsafeOp{"Save", "writes a checkpoint"},
    UnsafeOp{"SaveSlices", "writes a checkpoint"},
    UnsafeOp{"SaveV2", "writes a checkpoint"},
    UnsafeOp{"MergeV2Checkpoints", "writes a checkpoint and removes its parts"},
    UnsafeOp{"Restore", "reads a checkpoint"},
    UnsafeOp{"RestoreSlice", "reads a checkpoint"},
    UnsafeOp{"RestoreV2", "reads a checkpoint"},
    UnsafeOp{"InitializeTableFromTextFile*", "reads a vocabulary"},
};

template <typename Table>
const UnsafeOp* find(const Table& table, std::string_view op) {
  for (const UnsafeOp& row : table) {
    const bool prefix = row.op.ends_with('*');
    if (prefix ? op.starts_with(row.op.substr(0, row.op.size() - 1)) : op == row.op) return &row;
  }
  return nullptr;
}

}  // namespace

void check_safety(const CheckedGraph& in, NodeId id, const NodeHead& head, Report& report) {
  if (const UnsafeOp* row = find(kUnsafe, head.op)) {
    report.add(Rule::kUnsafeOp, in.subject(id), std::string(head.op) + " " + std::string(row->does));
  } else if (const UnsafeOp* saver = find(kCallerSays, head.op)) {
    report.warn(Rule::kUnsafeOp, in.subject(id), std::string(head.op) + " " + std::string(saver->does));
  }
}

}  // namespace gedit
