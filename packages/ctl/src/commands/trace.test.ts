import assert from 'node:assert/strict'
import { get } from 'node:http'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { eventsOf } from '../testing/events.ts'
import {
  closedPort,
  type FakeGateway,
  type FakeGatewayOptions,
  useFakeGateway,
  useServer,
} from '../testing/fake-gateway.ts'
import { skipWithout } from '../testing/installed.ts'
import { runProgram, type RunOptions, startProgram } from '../testing/program.ts'

function watchArgs({ admin }: FakeGateway, ...more: string[]): string[] {
  return ['trace', '--local', '--admin', admin, ...more]
}

function injectArgs(gateway: FakeGateway, ...curl: string[]): string[] {
  return [...watchArgs(gateway, '--raw', '--port', String(gateway.port)), '--', ...curl]
}

function send(port: number, path = '/from-elsewhere'): void {
  get({ host: '127.0.0.1', port, path, agent: false }, (response) => response.resume()).on('error', () => {})
}

function rawEvents(stdout: string): { message: { type: string; requestState?: { request: { path: string } } } }[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

describe('trace --local', () => {
  test('waits for the next request of any client, and prints its events as received', async (t) => {
    const gateway = await useFakeGateway(t)
    const program = startProgram(watchArgs(gateway, '--raw'))
    await program.told('waiting for the next request')
    send(gateway.port)
    const { code, stdout, stderr } = await program.ended
    assert.equal(code, 0, stderr)
    const { headers } = gateway.seen[0]!
    const request = { method: 'GET', host: headers.host!, path: '/from-elsewhere', headers }
    assert.equal(
      stdout,
      eventsOf(request)
        .map((event) => `${JSON.stringify(event)}\n`)
        .join(''),
    )
    assert.deepEqual(gateway.expressions, [null])
  })

  test('prints plain lines without --raw where there is no terminal', async (t) => {
    const gateway = await useFakeGateway(t)
    const program = startProgram(watchArgs(gateway))
    await program.told('waiting')
    send(gateway.port, '/x')
    const { code, stdout } = await program.ended
    assert.equal(code, 0)
    const lines = stdout.split('\n')
    assert.equal(lines[0], '  1  requestStarted       request started')
    assert.equal(lines[1], `  2  requestSnapshot      initial request: GET 127.0.0.1:${gateway.port} /x`)
    assert.equal(lines[12], ' 13  requestFinished      request finished')
  })

  test('lets no escape sequence of a request through in plain lines', async (t) => {
    const hostile = (value: string) => [
      { eventEnd: 1, message: { type: 'backendCallStart', target: value } },
      { eventEnd: 2, message: { type: `new\u001b[2J`, value } },
      { eventEnd: 3, message: { type: 'requestFinished' } },
    ]
    const gateway = await useFakeGateway(t, { eventsOf: () => hostile('\u001b]0;owned\u0007\u009b31m\r\nfake line') })
    const program = startProgram(watchArgs(gateway))
    await program.told('waiting')
    send(gateway.port)
    const { stdout } = await program.ended
    assert.doesNotMatch(stdout, /[^\P{Cc}\n]/u)
    assert.match(stdout, /calling \\u001b\]0;owned\\u0007\\u009b31m\\u000d\\u000afake line/)
  })

  test('passes expression and token to the gateway, from options or variables', async (t) => {
    const gateway = await useFakeGateway(t, { token: 's3cret' })
    const trace = async (args: string[], options?: RunOptions) => {
      const program = startProgram(args, options)
      await program.told('waiting')
      send(gateway.port)
      assert.equal((await program.ended).code, 0)
    }
    await trace(watchArgs(gateway, '--raw', '--expression', 'true', '--admin-token', 's3cret'))
    await trace(['trace', '--local', '--raw'], {
      env: { PORTICO_ADMIN_ADDR: gateway.admin, PORTICO_ADMIN_TOKEN: 's3cret' },
    })
    assert.deepEqual(gateway.expressions, ['true', null])
    const refused = await runProgram(watchArgs(gateway, '--raw', '--admin-token', 'wr0ng'))
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^porticoctl: .*rejected the token.*\n$/)
    assert.doesNotMatch(refused.stderr, /wr0ng/)
  })

  test('ends with 130 when it is interrupted, and prints nothing more', async (t) => {
    const gateway = await useFakeGateway(t)
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const program = startProgram(watchArgs(gateway, '--raw'))
      await program.told('waiting')
      program.child.kill(signal)
      const ended = await program.ended
      assert.deepEqual({ code: ended.code, stdout: ended.stdout }, { code, stdout: '' })
    }
  })

  test('ends quietly when the reader closes the pipe', async (t) => {
    const gateway = await useFakeGateway(t)
    const program = startProgram(watchArgs(gateway, '--raw'))
    await program.told('waiting')
    program.child.stdout!.destroy()
    send(gateway.port)
    const { code, stderr } = await program.ended
    assert.equal(code, 0)
    assert.doesNotMatch(stderr, /EPIPE|Error/)
  })
})

describe('trace --local --port', { skip: skipWithout('curl') }, () => {
  test('sends the request to this machine, with the host of the URL and the arguments of curl', async (t) => {
    const bodies: string[] = []
    const gateway = await useFakeGateway(t, {
      answer: (request, response) => {
        request.setEncoding('utf8').on('data', (chunk: string) => bodies.push(chunk))
        request.on('end', () => response.end('the answer'))
      },
    })
    const curl = ['http://no-such-host.invalid:81/a?b=c', '-X', 'PUT', '-H', 'x-a: $(echo no) "q"', '-d', '{"a": 1}']
    // A proxy of the environment is not used.
    const { code, stdout, stderr } = await runProgram(injectArgs(gateway, ...curl), {
      env: { http_proxy: 'http://127.0.0.1:1', ALL_PROXY: 'http://127.0.0.1:1' },
    })
    assert.equal(code, 0, stderr)
    const [seen] = gateway.seen
    assert.equal(seen?.method, 'PUT')
    assert.equal(seen?.url, '/a?b=c')
    assert.equal(seen?.headers.host, 'no-such-host.invalid:81')
    assert.equal(seen?.headers['x-a'], '$(echo no) "q"')
    assert.deepEqual(bodies, ['{"a": 1}'])
    assert.equal(rawEvents(stdout).length, 13)
    assert.equal(stderr, 'the answer\n')
  })

  test('traces its own request while others send too', async (t) => {
    const gateway = await useFakeGateway(t, {
      onArmed: ({ port }) => {
        for (let count = 0; count < 20; count++) send(port)
      },
    })
    const { code, stdout, stderr } = await runProgram(injectArgs(gateway, 'http://a.example/mine'))
    assert.equal(code, 0, stderr)
    assert.equal(rawEvents(stdout)[1]?.message.requestState?.request.path, '/mine')
  })

  test('traces the next request when the gateway rejects its filter', async (t) => {
    const gateway = await useFakeGateway(t, { refuses: (expression) => expression !== null })
    const { code, stdout } = await runProgram(injectArgs(gateway, 'http://a.example/mine'))
    assert.equal(code, 0)
    assert.equal(rawEvents(stdout).length, 13)
    assert.equal(gateway.expressions.length, 2)
    assert.equal(gateway.expressions[1], null)
  })

  test('keeps the ports that the user gave to curl', async (t) => {
    const gateway = await useFakeGateway(t)
    const port = await closedPort()
    const curl = ['http://a.example/', '--local-port', `${port}-${port + 50}`]
    const { code, stderr } = await runProgram(injectArgs(gateway, ...curl))
    assert.equal(code, 0, stderr)
    assert.deepEqual(gateway.expressions, [null])
  })

  test('gives standard input to curl', async (t) => {
    let body = ''
    const gateway = await useFakeGateway(t, {
      answer: (request, response) => {
        request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
        request.on('end', () => response.end())
      },
    })
    const { code } = await runProgram(injectArgs(gateway, 'http://a.example/', '-d', '@-'), { stdin: 'from input' })
    assert.equal(code, 0)
    assert.equal(body, 'from input')
  })

  test('keeps the host of an https URL as the server name', async (t) => {
    const names: unknown[] = []
    const server = createTlsServer({
      SNICallback: (name, done) => {
        names.push(name)
        done(new Error('seen enough'))
      },
    }).on('tlsClientError', (_error, socket: TLSSocket) => socket.destroy())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const gateway = { ...(await useFakeGateway(t)), port: (server.address() as AddressInfo).port }
    const { code, stdout, stderr } = await runProgram(injectArgs(gateway, 'https://secure.example/'))
    assert.deepEqual(names, ['secure.example'])
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
    assert.match(stderr, /^porticoctl: curl: \(35\) .*\n$/)
  })

  test('prints the errors of curl after the request was traced', async (t) => {
    const gateway = await useFakeGateway(t, { answer: (_request, response) => response.writeHead(500).end('no') })
    const { code, stdout, stderr } = await runProgram(injectArgs(gateway, 'http://a.example/', '--fail'))
    assert.equal(code, 0)
    assert.equal(rawEvents(stdout).length, 13)
    assert.match(stderr, /^curl: \(22\)/)
  })
})

describe('a trace that fails', { skip: skipWithout('curl') }, () => {
  const fails = async (args: string[], said: RegExp, options?: RunOptions) => {
    const { code, stdout, stderr } = await runProgram(args, options)
    assert.match(stderr, said)
    assert.deepEqual({ code, stdout, lines: stderr.split('\n').length }, { code: 1, stdout: '', lines: 2 })
  }

  test('because of the admin address', async (t) => {
    const other = await useServer(t, (_request, response) => response.writeHead(404).end('nothing here'))
    await fails(
      ['trace', '--local', '--admin', `127.0.0.1:${await closedPort()}`],
      /^porticoctl: nothing listens on the admin address .* --admin\n$/,
    )
    await fails(['trace', '--local', '--admin', `127.0.0.1:${other}`], /has no \/debug\/trace: it is not the admin/)
  })

  test('because of the expression', async (t) => {
    const gateway = await useFakeGateway(t, { refuses: () => true })
    await fails(watchArgs(gateway, '--expression', 'a ='), /rejected the trace: invalid expression: no\n$/)
    const inject = [...watchArgs(gateway, '--expression', 'a =', '--port', '1'), '--', 'http://x/']
    await fails(inject, /rejected the trace: invalid expression: no\n$/)
  })

  test('because of the port', async (t) => {
    const port = await closedPort()
    const gateway = { ...(await useFakeGateway(t)), port }
    await fails(
      injectArgs(gateway, 'http://a.example/'),
      new RegExp(`^porticoctl: nothing listens on 127\\.0\\.0\\.1:${port}: .* --port\\n$`),
    )
  })

  test('because another program uses the port', async (t) => {
    const port = await useServer(t, (_request, response) => response.end())
    const gateway = { ...(await useFakeGateway(t)), port }
    await fails(injectArgs(gateway, 'http://a.example/'), /curl got a response, but .* traced no such request/)
  })

  test('because of the arguments of curl', async (t) => {
    const gateway = await useFakeGateway(t)
    await fails(
      injectArgs(gateway, 'http://a.example/', '--no-such-option'),
      /^porticoctl: curl: option --no-such-option/,
    )
  })

  test('because there is no curl', async (t) => {
    const gateway = await useFakeGateway(t)
    await fails(injectArgs(gateway, 'http://a.example/'), /^porticoctl: curl was not found: install it/, {
      env: { PATH: '/nonexistent' },
    })
  })

  test('because the gateway stopped', async (t) => {
    const options: FakeGatewayOptions = { eventsOf: (request) => eventsOf(request).slice(0, 4) }
    const gateway = await useFakeGateway(t, options)
    const program = startProgram(watchArgs(gateway, '--raw'))
    await program.told('waiting')
    send(gateway.port)
    const { code, stdout, stderr } = await program.ended
    assert.equal(code, 1)
    assert.equal(rawEvents(stdout).length, 4)
    assert.match(stderr, /ended the trace before the request was finished/)
  })
})
