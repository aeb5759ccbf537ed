import { defineCommand } from '../command.ts'
import { exitCode } from '../io.ts'
import { printable } from '../printable.ts'
import { planTrace } from '../trace/plan.ts'
import { traceToLines } from '../trace/lines.ts'

export const trace = defineCommand({
  name: 'trace',
  summary: 'show how the gateway decides one request, step by step',
  usage: '--local [options] [--port <port> -- <url> [curl args...]]',
  options: {
    local: { kind: 'flag', summary: 'trace a standalone gateway (required)' },
    raw: { kind: 'flag', summary: 'print JSON Lines, one event per line, instead of the terminal UI' },
    port: { kind: 'value', value: '<port>', summary: 'listener port on 127.0.0.1 that the request is sent to' },
    expression: { kind: 'value', value: '<CEL>', summary: 'trace the next request for which this is true' },
    admin: {
      kind: 'value',
      value: '<host:port>',
      summary: 'admin address of the gateway, or unix:/path (env PORTICO_ADMIN_ADDR, default 127.0.0.1:15000)',
      env: 'PORTICO_ADMIN_ADDR',
      fallback: '127.0.0.1:15000',
    },
    adminToken: {
      kind: 'value',
      value: '<token>',
      summary: 'token of the admin server (env PORTICO_ADMIN_TOKEN, which other users of the machine cannot see)',
      env: 'PORTICO_ADMIN_TOKEN',
    },
  },
  notes: `Without a URL it waits for the next request from any client. With --port and a URL it sends
the request itself, with curl, to 127.0.0.1:<port>: the host of the URL is the Host header (and
the TLS server name) and is not looked up. What follows the URL goes to curl as it is.

A terminal UI opens when standard input and output are a terminal. Elsewhere, and where TERM is
dumb, plain lines are printed: number, type, summary. Keys: tab switches pane, arrows and page
keys move, e event, s state, d diff, q quits.

Exit codes: 0 the request was traced, 1 it was not, 2 bad usage, 130 interrupted.

  porticoctl trace --local
  porticoctl trace --local --port 3000 -- http://api.example.com/users -H 'x-a: 1' -d '{}'
  porticoctl trace --local --raw --expression 'request.path.startsWith("/api")'
`,
  async run({ options, operands, afterDashes, io }) {
    const planned = planTrace({ ...options, operands, afterDashes })
    if (!planned.ok) {
      io.stderr.write(`porticoctl trace: ${printable(planned.problem)}\n(porticoctl trace --help shows how)\n`)
      return exitCode.badUsage
    }
    const isTerminal = io.stdin.isTTY && io.stdout.isTTY && io.env['TERM'] !== 'dumb'
    if (options.raw || !isTerminal) return traceToLines(planned.value, { io, isRaw: options.raw })
    const { traceToScreen } = await import('../tui/trace-to-screen.ts')
    return traceToScreen(planned.value, io)
  },
})
