import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

describe('the README of packages/http', () => {
  it('has an example that proxies both versions of HTTP', async (t) => {
    const backend = createServer(async (request, response) => {
      response.setHeader('x-method', request.method ?? '')
      response.end(`${request.url} ${await text(request)}`)
    }).listen(0, '127.0.0.1')
    await once(backend, 'listening')
    t.after(() => backend.close().closeAllConnections())
    const port = await startExample(t, (backend.address() as AddressInfo).port)

    const posted = await fetch(`http://127.0.0.1:${port}/a?b`, { method: 'POST', body: 'hello' })
    assert.deepEqual([posted.status, posted.headers.get('x-method'), await posted.text()], [200, 'POST', '/a?b hello'])

    const session = connect(`http://127.0.0.1:${port}`)
    t.after(() => session.destroy())
    assert.equal(await text(session.request({ ':path': '/over-http2' })), '/over-http2 ')

    backend.close().closeAllConnections()
    await once(backend, 'close')
    assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 502)
  })

  it('lists everything that the entries export', async () => {
    const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
      exports: Record<string, string>
    }
    const listed = [...readme.matchAll(/^\| `@portico\/http(\S*)` \| (.*) \|$/gm)].map(([, entry, names = '']) => [
      `.${entry}`,
      namesIn(names),
    ])
    const exported = Object.entries(exports).map(([entry, file]) => [entry, exportsOf(file)])
    assert.deepEqual(Object.fromEntries(listed), Object.fromEntries(exported))
  })
})

/** Starts the example; returns the port that it prints. */
async function startExample(t: TestContext, backendPort: number): Promise<string> {
  const [, example] = /```ts\n([\s\S]*?)```/.exec(readme) ?? []
  assert.ok(example)
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', example], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    env: { ...process.env, BACKEND_PORT: String(backendPort) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  for await (const line of createInterface({ input: child.stdout })) return line
  return assert.fail('the example ended without a port')
}

/** The code spans of a row without those of its first sentence, which describe. */
function namesIn(row: string): string[] {
  const names = row.slice(row.lastIndexOf('. ') + 2)
  return [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name).toSorted()
}

function exportsOf(file: string): string[] {
  const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
  const passed = [...source.matchAll(/^export (?:type )?\{([^}]*)\} from/gm)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.trim().replace(/^type /, '')),
  )
  const own = [...source.matchAll(/^export (?:async )?(?:function|const|class|interface|type) (\w+)/gm)]
  return [...passed, ...own.map(([, name = '']) => name)].filter((name) => name !== '').toSorted()
}
