// Ends the process at the first failed test, because one is enough to notice a change, and at the first test that hangs.

/**
 * The time limit of one test. `--test-timeout` would limit suites too, and a suite takes as long as all of its tests.
 */
const TEST_MS = 20_000

// The runner asks for a default export.
// oxlint-disable-next-line import/no-default-export
export default async function* report(events) {
  const tests = new Set()
  const limits = new Map()
  for await (const { type, data } of events) {
    const key = `${data.file}:${data.line}:${data.column} ${data.nesting} ${data.name}`
    if (type === 'test:fail') process.exit(1)
    // Only the type of this event tells tests from suites.
    else if (type === 'test:enqueue' && data.type === 'test') tests.add(key)
    else if (type === 'test:dequeue' && tests.has(key))
      limits.set(
        key,
        setTimeout(() => process.exit(1), TEST_MS),
      )
    else if (type === 'test:complete') clearTimeout(limits.get(key))
  }
  yield ''
}
