// The programs to bundle: by package, the entries, and the modules that stay external.
export const programs = {
  gateway: {
    input: {
      portico: 'src/process/cli/start.ts',
      worker: 'src/process/workers/worker.ts',
      'ledger-writer': 'src/ledger/writer-thread.ts',
      'key-store': 'src/keys/key-thread.ts',
      verify: 'src/verify/verify-thread.ts',
      simulation: 'src/simulation-thread/simulation-thread.ts',
      'load-chunk': 'src/process/program/load-chunk.ts',
    },
    // Native code stays external.
    external: ['@node-rs/bcrypt'],
    // Threads that start from our own loader, with cached code.
    threads: ['portico', 'worker', 'ledger-writer', 'key-store', 'verify', 'simulation'],
  },
  ctl: {
    input: {
      porticoctl: 'src/start.ts',
      'load-chunk': '../gateway/src/process/program/load-chunk.ts',
    },
    // The first is an optional package that is loaded only when it is installed.
    external: ['react-devtools-core', '@node-rs/bcrypt'],
    threads: ['porticoctl'],
    // The terminal UI has top-level awaits, which only ES modules may have.
    modules: { screen: 'src/tui/trace-to-screen.ts' },
  },
  controller: {
    input: {
      'portico-controller': 'src/start.ts',
      'policy-tests': '../gateway/src/policy-tests/policy-tests-thread.ts',
    },
    external: ['@node-rs/bcrypt'],
    threads: [],
  },
}

/** Large packages that few starts of the gateway need: their code is loaded lazily. */
export const laterPackages = ['zod', 'yaml', 're2js']
