import assert from 'node:assert/strict'
import { test } from 'node:test'
import { traceFiles } from './trace-files.ts'

/** The most source files that one request may run. A number may only shrink; `npm run trace-files` prints today's. */
const MOST_FILES: Readonly<Record<string, number>> = {
  'plain GET': 40,
  'streamed chat with guards': 90,
  'tools/call': 68,
}

test('a request runs no more source files than before', async () => {
  const traced = await traceFiles()
  assert.deepEqual([...traced.keys()], Object.keys(MOST_FILES))
  for (const [name, files] of traced) {
    const most = MOST_FILES[name] ?? 0
    assert.ok(files.includes('packages/gateway/src/pipeline/run/run.ts'), `${name} was not traced`)
    assert.ok(files.length <= most, `${name} runs ${files.length} files, more than ${most}:\n${files.join('\n')}`)
  }
})
