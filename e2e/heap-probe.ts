/**
 * Loaded into a program under test with `--import` and `--expose-gc`. At SIGWINCH, the main thread collects garbage and
 * prints the size of its heap. That thread must also serve the traffic.
 */
process.on('SIGWINCH', () => {
  // The second collection frees the objects that finalizers released after the first collection.
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  console.log(`heap-probe ${JSON.stringify({ heapUsed, external })}`)
})
