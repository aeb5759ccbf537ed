import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useConfigFile, useProgram } from '../../../gateway/src/testing/process.ts'
import { FIRST_CONFIGS } from './first-configs.ts'

for (const { title, text } of FIRST_CONFIGS) {
  test(`a gateway starts with the first config for ${title}`, async (t) => {
    const { file } = useConfigFile(t, text.replace('port: 8080', 'port: 0'))
    const program = await useProgram(t, { args: ['-f', file] })
    const answer = await fetch(`http://127.0.0.1:${program.port()}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'Hello' }] }),
    })
    // Only the mock is there already: the others lead to what people start themselves.
    assert.equal(answer.ok, title === 'Models')
  })
}
