/**
 * Loaded into a program under test (`--import`, with `--expose-gc`): at SIGWINCH its main thread, which also serves traffic,
 * collects its garbage and prints what it still holds.
 */
process.on('SIGWINCH', () => {
  // The second one takes what finalizers of the first one let go.
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  console.log(`heap-probe ${JSON.stringify({ heapUsed, external })}`)
})
