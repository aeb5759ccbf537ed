// What is bundled: by package, the entries, and the modules that stay outside.
export const programs = {
  gateway: {
    input: {
      portico: 'src/process/start.ts',
      worker: 'src/process/worker.ts',
      'load-chunk': 'src/process/load-chunk.ts',
    },
    // Native code stays outside.
    external: ['@node-rs/bcrypt'],
    // Threads that a loader of our own starts, with code that is compiled already.
    threads: ['portico', 'worker'],
  },
  // Asked for only where it is installed.
  ctl: { input: { porticoctl: 'src/start.ts' }, external: ['react-devtools-core', '@node-rs/bcrypt'], threads: [] },
  controller: { input: { 'portico-controller': 'src/start.ts' }, external: ['@node-rs/bcrypt'], threads: [] },
}

/** Big packages that few starts of the gateway need: their code is loaded when it is first called. */
export const laterPackages = ['zod', 'yaml', 're2js']
