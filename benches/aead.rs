//! The operations of the speedbench under criterion, to follow a change over time:
//! `cargo bench -p wireseal-criterion -- encrypt/1420`. To compare backends with each other use the
//! speedbench, which interleaves them.

mod operations;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use operations::OPERATIONS;
use std::time::Instant;
use wireseal::Backend;

fn operations(criterion: &mut Criterion) {
    for operation in OPERATIONS {
        let mut group = criterion.benchmark_group(operation.name);
        for &len in operation.sizes {
            group.throughput(Throughput::Bytes(len as u64));
            for backend in Backend::available() {
                let mut run = (operation.prepare)(backend, len);
                group.bench_function(BenchmarkId::new(len.to_string(), backend), |bencher| {
                    bencher.iter_custom(|times| {
                        let start = Instant::now();
                        run(times);
                        start.elapsed()
                    });
                });
            }
        }
        group.finish();
    }
}

criterion_group!(benches, operations);
criterion_main!(benches);
