import { adminOptions } from '../admin-options.ts'
import { type ClusterArguments, clusterOptions } from '../cluster/options.ts'
import { defineCommand } from '../command.ts'
import { exitCode, type Io } from '../io.ts'
import { printable } from '../printable.ts'
import { type PlannedTrace, planTrace, type TraceRequest } from '../trace/plan.ts'
import { traceToLines } from '../trace/lines.ts'

export const trace = defineCommand({
  name: 'trace',
  summary: 'show how the gateway decides one request, step by step',
  usage: 'gateway/<name> | --local [options] [--port <port> -- <url> [curl args...]]',
  options: {
    local: { kind: 'flag', summary: 'trace a standalone gateway instead of one in a cluster' },
    raw: { kind: 'flag', summary: 'print JSON Lines, one event per line, instead of the terminal UI' },
    port: { kind: 'value', value: '<port>', summary: 'listener port that the request is sent to' },
    expression: { kind: 'value', value: '<CEL>', summary: 'trace the next request for which this is true' },
    ...adminOptions,
    ...clusterOptions,
  },
  notes: `Without a URL it waits for the next request from any client. With --port and a URL it sends
the request itself, with curl, to that port of 127.0.0.1 or of a Pod: the host of the URL is the
Host header (and the TLS server name) and is not resolved. Arguments after the URL are passed to
curl.

For a Gateway in a cluster, all ready Pods watch, and the first that sees a request reports it. Ports
are forwarded by the API server: you need the rights to list pods and to create pods/portforward.

A terminal UI opens when standard input and output are a terminal. Otherwise, and when TERM is
dumb, plain lines are printed: number, type, summary. Keys: tab switches pane, arrows and page
keys move, e event, s state, d diff, q quits.

Exit codes: 0 the request was traced, 1 it was not, 2 bad usage, 130 interrupted.

  porticoctl trace gateway/web -n shop
  porticoctl trace gateway/web -n shop --port 80 -- http://api.example.com/users
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
    if (planned.value.from.kind === 'local') {
      const { admin } = planned.value.from
      return show({ ...planned.value, label: admin.label, admins: [admin] }, options.raw, io)
    }
    return traceInCluster(planned.value, planned.value.from.name, { options, io })
  },
})

async function traceInCluster(
  plan: PlannedTrace,
  gateway: string,
  { options, io }: { options: ClusterArguments & { raw: boolean }; io: Io },
): Promise<number> {
  // The cluster client is loaded only when needed.
  const { ClusterProblem, openGateway } = await import('../cluster/index.ts')
  const onePod = plan.injection !== null
  try {
    const open = await openGateway({ ...options, gateway, onePod }, io.env)
    try {
      const injection = plan.injection === null ? null : await open.through(plan.injection)
      return await show({ ...plan, injection, label: open.label, admins: open.admins }, options.raw, io)
    } finally {
      await open.close()
    }
  } catch (error) {
    if (!(error instanceof ClusterProblem)) throw error
    io.stderr.write(`porticoctl: ${printable(error.message)}\n`)
    return exitCode.failed
  }
}

async function show(request: TraceRequest, isRaw: boolean, io: Io): Promise<number> {
  const isTerminal = io.stdin.isTTY && io.stdout.isTTY && io.env['TERM'] !== 'dumb'
  if (isRaw || !isTerminal) return traceToLines(request, { io, isRaw })
  const { traceToScreen } = await import('../tui/trace-to-screen.ts')
  return traceToScreen(request, io)
}
