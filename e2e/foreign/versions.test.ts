import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { runPython, withoutPython } from './python.ts'

it('the Python libraries are those of the locked list', { skip: withoutPython }, async () => {
  const list = readFileSync(new URL('requirements.txt', import.meta.url), 'utf8')
  const locked = Object.fromEntries(
    [...list.matchAll(/^([a-z0-9-]+)==(\S+)/gm)].map(([, name, version]) => [name, version]),
  )
  const names = ['anthropic', 'boto3', 'google-genai', 'grpcio', 'mcp', 'openai', 'opentelemetry-sdk', 'xds-protos']
  const installed = await runPython<Record<string, string>>('versions.py', { names })
  assert.deepEqual(installed, Object.fromEntries(names.map((name) => [name, locked[name]])))
})
