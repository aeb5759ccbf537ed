import assert from 'node:assert/strict'
import { get } from 'node:http'
import { describe, test, type TestContext } from 'node:test'
import { useConfigFile, useProgram as useGatewayProgram } from '../../../gateway/src/testing/process.ts'
import { TRACE_ORDER } from '../../../gateway/src/testing/admin/trace-client.ts'
import { useServer } from '../testing/fake-gateway.ts'
import { skipWithout } from '../testing/installed.ts'
import { runProgram, startProgram } from '../testing/program.ts'
import { noTerminal, useTerminal } from '../testing/terminal.ts'

/** These tests run the real gateway in a process of its own. */

interface Gateway {
  admin: string
  port: number
}

async function useGateway(t: TestContext, env: Readonly<Record<string, string>> = {}): Promise<Gateway> {
  const origin = await useServer(t, (request, response) => response.end(`origin saw ${request.url}\n`))
  const routes = [
    {
      name: 'api',
      matches: [{ path: { pathPrefix: '/api' } }],
      policies: { urlRewrite: { path: { prefix: '/' } } },
      backends: [{ host: `127.0.0.1:${origin}` }],
    },
    { name: 'rest', policies: { directResponse: { status: 418, body: 'teapot' } } },
  ]
  const config = { config: { workers: 2 }, binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes }] }] }
  const gateway = await useGatewayProgram(t, { args: ['-f', useConfigFile(t, config).file], env })
  return { admin: new URL(gateway.admin).host, port: gateway.port() }
}

interface RawEvent {
  message: { type: string; stage?: string; requestState?: { request?: { path: string; host: string } } }
}

function rawEvents(stdout: string): RawEvent[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RawEvent)
}

function send({ port }: Gateway, path: string): void {
  get({ host: '127.0.0.1', port, path, agent: false }, (response) => response.resume()).on('error', () => {})
}

describe('with the real gateway', { skip: skipWithout('curl') }, () => {
  test('a request of another client is traced from its start to its end', async (t) => {
    const gateway = await useGateway(t)
    const program = startProgram(['trace', '--local', '--raw', '--admin', gateway.admin])
    await program.told('waiting')
    send(gateway, '/api/users')
    const { code, stdout, stderr } = await program.ended
    assert.equal(code, 0, stderr)
    const steps = rawEvents(stdout).map(({ message }) => message.stage ?? message.type)
    assert.deepEqual(
      steps.filter((step) => TRACE_ORDER.includes(step)),
      TRACE_ORDER,
    )
  })

  test('its own request is traced while others send, and keeps the host of the URL', async (t) => {
    const gateway = await useGateway(t)
    const others = setInterval(() => send(gateway, '/api/other'), 5)
    t.after(() => clearInterval(others))
    const args = ['trace', '--local', '--raw', '--admin', gateway.admin, '--port', String(gateway.port)]
    const { code, stdout, stderr } = await runProgram([
      ...args,
      '--',
      'http://api.example.com/api/mine',
      '-H',
      'x-a: 1',
    ])
    assert.equal(code, 0, stderr)
    assert.equal(stderr, 'origin saw /mine\n')
    const { path, host } = rawEvents(stdout)[1]!.message.requestState!.request!
    assert.deepEqual({ path, host }, { path: '/api/mine', host: 'api.example.com' })
  })

  test('an expression picks the request, an invalid one is rejected with its reason', async (t) => {
    const gateway = await useGateway(t)
    const args = ['trace', '--local', '--admin', gateway.admin, '--expression']
    const program = startProgram([...args, 'request.path == "/teapot"'])
    await program.told('waiting')
    send(gateway, '/api/no')
    send(gateway, '/teapot')
    const { code, stdout } = await program.ended
    assert.equal(code, 0)
    assert.match(stdout, /initial request: GET \S+ \/teapot/)
    assert.match(stdout, /selected ".*rest.*" \(\d+ evaluated\)/)
    assert.match(stdout, /final response: status=418/)
    const refused = await runProgram([...args, 'request.path =='])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^porticoctl: .* rejected the trace: invalid expression: .*\n$/)
  })

  test('a required token is passed', async (t) => {
    const gateway = await useGateway(t, { ADMIN_TOKEN: 's3cret' })
    const args = [
      'trace',
      '--local',
      '--admin',
      gateway.admin,
      '--port',
      String(gateway.port),
      '--',
      'http://a.example/',
    ]
    const without = await runProgram(args)
    assert.equal(without.code, 1)
    assert.match(without.stderr, /requires a token: set it with --admin-token or PORTICO_ADMIN_TOKEN/)
    const withToken = await runProgram(args, { env: { PORTICO_ADMIN_TOKEN: 's3cret' } })
    assert.equal(withToken.code, 0, withToken.stderr)
  })

  test('the terminal UI shows the request', { skip: noTerminal }, async (t) => {
    const gateway = await useGateway(t)
    const args = ['trace', '--local', '--admin', gateway.admin, '--port', String(gateway.port)]
    const terminal = await useTerminal(t, [...args, '--', 'http://api.example.com/api/users', '-H', 'x-evil: \u009b2J'])
    const screen = await terminal.shows(/events; request finished; curl got its response/)
    assert.match(screen, /initial request: GET api\.example\.com/)
    assert.match(screen, /effective policies: urlRewrite/)
    assert.match(screen, /backendCallResult +status=200/)
    await terminal.press('Down', 'Tab', 'NPage')
    await terminal.shows(/"x-evil": ".*\\u009b2J"/)
    await terminal.press('Tab', 'End', 'd')
    await terminal.shows(/\[diff\] \d+ → \d+ final response/)
    await terminal.press('q')
    await terminal.shows(/\[exit 0\]/)
  })
})
