import assert from 'node:assert/strict'
import { get } from 'node:http'
import { describe, test, type TestContext } from 'node:test'
import { eventsOf } from '../testing/events.ts'
import { closedPort, type FakeGatewayOptions, useFakeGateway } from '../testing/fake-gateway.ts'
import { skipWithout } from '../testing/installed.ts'
import { olderNode } from '../testing/program.ts'
import { noTerminal, type TerminalOptions, useTerminal } from '../testing/terminal.ts'

const HOSTILE = '\u001b[2J\u001b]0;owned\u0007\u009b31m'

async function useInjection(
  t: TestContext,
  {
    gateway: options,
    terminal,
    curl = [],
  }: { gateway?: FakeGatewayOptions; terminal?: TerminalOptions; curl?: string[] },
) {
  const gateway = await useFakeGateway(t, options)
  const args = ['trace', '--local', '--admin', gateway.admin, '--port', String(gateway.port)]
  return useTerminal(t, [...args, '--', 'http://api.example.com/api/users', ...curl], terminal)
}

describe('the terminal UI', { skip: noTerminal || skipWithout('curl') }, () => {
  test('sends the request, shows its events, and leaves the terminal as it was', async (t) => {
    const terminal = await useInjection(t, {})
    const screen = await terminal.shows(/13 events; request finished; curl got its response \(23 bytes\)/)
    assert.match(screen, />\s+1 requestStarted +request started/)
    assert.match(screen, /selected "api" \(2 evaluated\)/)
    assert.match(screen, /effective policies: cors, urlRewrite/)
    await terminal.press('Down', 'Down', 'Down')
    await terminal.shows(/> +4 routeSelection[^]*"selectedRoute": "api"/)
    await terminal.press('End', 'PPage', 'Home', 'NPage')
    await terminal.shows(/> +13 requestFinished/)
    await terminal.press('d')
    await terminal.shows(/\[diff\] 11 → 12 final response[^]*\+ response\.headers\.x-served-by: "portico"/)
    await terminal.press('s', 'Tab', 'Down')
    await terminal.shows(/┐╔[^]*\[state\] 12 final response/)
    await terminal.press('q')
    const after = await terminal.shows(/\[exit 0\]/)
    assert.doesNotMatch(after, /requestStarted/)
  })

  test('waits for a request, and follows the size of the terminal', async (t) => {
    const gateway = await useFakeGateway(t)
    const terminal = await useTerminal(t, ['trace', '--local', '--admin', gateway.admin], { columns: 80, rows: 24 })
    await terminal.shows(/waiting for the next request/)
    get({ host: '127.0.0.1', port: gateway.port, path: '/x', agent: false }, (response) => response.resume())
    await terminal.shows(/13 events; request finished/)
    await terminal.resize(120, 30)
    await terminal.shows(/╗┌/)
    await terminal.resize(30, 10)
    await terminal.shows(/terminal too small: 30x10/)
    await terminal.resize(60, 15)
    const screen = await terminal.shows(/requestStarted[^]*\[event\] event 1/)
    assert.equal(screen.match(/requestStarted +request/g)?.length, 1)
    await terminal.press('q')
    await terminal.shows(/\[exit 0\]/)
  })

  test('ends with 130 on Ctrl-C, also under an older Node', async (t) => {
    const gateway = await useFakeGateway(t)
    for (const node of [process.execPath, olderNode() ?? process.execPath]) {
      const terminal = await useTerminal(t, ['trace', '--local', '--admin', gateway.admin], { node })
      await terminal.shows(/waiting for the next request/)
      await terminal.press('C-c')
      await terminal.shows(/\[exit 130\]/)
    }
  })

  test('is not controlled by request data', async (t) => {
    const events = eventsOf({ method: 'GET', host: 'a', path: `/${HOSTILE}`, headers: { 'x-evil': HOSTILE } })
    const terminal = await useInjection(t, { gateway: { eventsOf: () => events } })
    await terminal.shows(/13 events; request finished/)
    await terminal.press('Down')
    const screen = await terminal.shows(/"x-evil": "\\u001b\[2J/)
    assert.match(screen, /initial request: GET a \/\\u001b\[2J/)
    assert.match(screen, /requestStarted/)
  })

  test('has colours, and none with NO_COLOR', async (t) => {
    const events = [{ eventEnd: 0, severity: 'error', message: { type: 'requestFinished' } }]
    const colours = async (env: Record<string, string>) => {
      const terminal = await useInjection(t, { gateway: { eventsOf: () => events }, terminal: { env } })
      await terminal.shows(/1 event; request finished/)
      return terminal.screen({ colours: true })
    }
    const colour = /\u001b\[[\d;]*\b[349][1-7]m/
    assert.match(await colours({}), colour)
    assert.doesNotMatch(await colours({ NO_COLOR: '1' }), colour)
  })

  test('opens in a terminal of a build machine too', async (t) => {
    const terminal = await useInjection(t, { terminal: { env: { CI: 'true' } } })
    await terminal.shows(/13 events; request finished/)
  })

  test('stays open when the trace breaks, and repeats the problem at the end', async (t) => {
    const terminal = await useInjection(t, { gateway: { eventsOf: () => eventsOf().slice(0, 3) } })
    await terminal.shows(/3 events; .* ended the trace before the request was finished/)
    await terminal.press('q')
    await terminal.shows(/porticoctl: .* ended the trace before[^]*\[exit 1\]/)
  })

  test('ends at once when there is nothing to show', async (t) => {
    const gateway = await useFakeGateway(t)
    const port = await closedPort()
    const args = ['trace', '--local', '--admin', gateway.admin, '--port', String(port), '--', 'http://a.example/']
    const terminal = await useTerminal(t, args)
    await terminal.shows(new RegExp(`porticoctl: nothing listens on 127\\.0\\.0\\.1:${port}[^]*\\[exit 1\\]`))
    const nowhere = await useTerminal(t, ['trace', '--local', '--admin', `127.0.0.1:${port}`])
    await nowhere.shows(/porticoctl: nothing listens on the admin address[^]*\[exit 1\]/)
  })

  test('prints plain lines on a dumb terminal', async (t) => {
    const terminal = await useInjection(t, { terminal: { env: { TERM: 'dumb' } } })
    await terminal.shows(/ 13 {2}requestFinished +request finished[^]*\[exit 0\]/)
  })

  test('--raw on a terminal prints escaped lines', async (t) => {
    const events = [{ eventEnd: 0, message: { type: 'requestFinished', error: HOSTILE } }]
    const gateway = await useFakeGateway(t, { eventsOf: () => events })
    const args = ['trace', '--local', '--raw', '--admin', gateway.admin, '--port', String(gateway.port)]
    const terminal = await useTerminal(t, [...args, '--', 'http://a.example/'])
    await terminal.shows(/\\u001b\[2J\\u001b\]0;owned\\u0007\\u009b31m[^]*\[exit 0\]/)
  })
})
