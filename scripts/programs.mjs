// What is bundled: by package, the entries, and the modules that stay outside.
export const programs = {
  // Native code stays outside.
  gateway: {
    input: { portico: 'src/process/start.ts', worker: 'src/process/worker.ts' },
    external: ['@node-rs/bcrypt'],
  },
  // Asked for only where it is installed.
  ctl: { input: { porticoctl: 'src/start.ts' }, external: ['react-devtools-core'] },
}
