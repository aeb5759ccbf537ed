// Runs the test files of one group in this process: `node scripts/test-group.mjs [--components] [--quick] --limit-ms=N files`.
// An entry of its own costs less than `node --test`: the runner of Node counts all promises of a process to name the test that
// an error belongs to, and each of them then costs a call.
import './compile-cache.mjs'
import asyncHooks from 'node:async_hooks'

const options = process.argv.slice(2).filter((arg) => arg.startsWith('--'))
const files = process.argv.slice(2).filter((arg) => !arg.startsWith('--'))
const limit = Number(options.find((option) => option.startsWith('--limit-ms='))?.slice('--limit-ms='.length))

const createHook = asyncHooks.createHook
asyncHooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false })
const { after, run } = await import('node:test')
const { complainOfOpenHandles } = await import('./open-handles.mjs')
const { report } = await import('./test-reporter.mjs')
if (options.includes('--quick')) await import('./quick-properties.mjs')
if (options.includes('--components')) await import('./components.mjs')

const events = run({ files, isolation: 'none', timeout: limit })
// `after` is called once the run has begun, because a hook belongs to a run.
after(complainOfOpenHandles)
events.on('test:fail', ({ details }) => {
  if (details.error !== undefined) process.exitCode = 1
})
events.compose(report).pipe(process.stdout)
