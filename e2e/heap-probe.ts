import { isMainThread } from 'node:worker_threads'

/**
 * Loaded into every thread of a program under test (`--import`, with `--expose-gc`): at SIGWINCH each worker collects its
 * garbage, and the main thread prints what the workers still hold.
 */

const ASK = 'heap-probe-ask'
const TELL = 'heap-probe-tell'
const asked = new BroadcastChannel(ASK)
const told = new BroadcastChannel(TELL)

if (isMainThread) {
  process.on('SIGWINCH', () => asked.postMessage(null))
  told.onmessage = ({ data }: MessageEvent) => console.log(`heap-probe ${JSON.stringify(data)}`)
} else {
  asked.onmessage = () => {
    // The second one takes what finalizers of the first one let go.
    globalThis.gc?.()
    globalThis.gc?.()
    const { heapUsed, external } = process.memoryUsage()
    told.postMessage({ heapUsed, external })
  }
}
asked.unref()
told.unref()
