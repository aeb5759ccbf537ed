// Ends the process at the first failed test: one is enough to notice a change.

// The runner asks for a default export.
// oxlint-disable-next-line import/no-default-export
export default async function* report(events) {
  for await (const { type } of events) if (type === 'test:fail') process.exit(1)
  yield ''
}
