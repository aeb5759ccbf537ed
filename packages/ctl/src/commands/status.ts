import { clusterOptions, contextsIn } from '../cluster/options.ts'
import { defineCommand } from '../command.ts'
import { exitCode } from '../io.ts'
import { printable } from '../printable.ts'
import { type StatusTarget, parseTarget } from '../status/target.ts'

const FORMS = ['text', 'yaml', 'json'] as const
type Form = (typeof FORMS)[number]

export const status = defineCommand({
  name: 'status',
  summary: 'diagnose a route, a Gateway, a policy or a backend',
  usage: '[<kind>/<name>] [options]',
  options: {
    ...clusterOptions,
    context: {
      kind: 'value',
      value: '<names>',
      summary: 'contexts of the kubeconfig, separated by commas (default: the current one)',
    },
    file: {
      kind: 'value',
      short: 'f',
      value: '<path>',
      summary: 'a file or a folder of manifests, in place of a cluster',
      isPath: true,
    },
    output: { kind: 'value', short: 'o', value: '<form>', summary: 'text (default), yaml or json', fallback: 'text' },
  },
  notes: `Follows the path of a request: GatewayClass, Gateway, listener, route, policies, backends, addresses of
Services. Names the first broken link with its condition and the fix. Without <kind>/<name>, all
resources of the namespace are checked. With several contexts, each cluster is checked.

Kinds: gateway, listenerset, httproute, grpcroute, tlsroute, tcproute, gwpolicy, backendtlspolicy,
gwbackend.

Exit codes: 0 no problem, 1 a problem, or something could not be checked, 2 bad usage.

  porticoctl status httproute/orders -n shop
  porticoctl status -n shop
  porticoctl status -n shop --context blue,green
  porticoctl status -f manifests/ -o json
`,
  async run({ options, operands, afterDashes, io }) {
    const planned = plan(options, [...operands, ...(afterDashes ?? [])])
    if (typeof planned === 'string') {
      io.stderr.write(`porticoctl status: ${printable(planned)}\n(porticoctl status --help shows how)\n`)
      return exitCode.badUsage
    }
    // The cluster client and translation are loaded only when needed.
    const { showStatus } = await import('../status/show-status.ts')
    return showStatus({ ...options, ...planned }, io)
  },
})

/** Returns a text that says what is wrong when the arguments are invalid. */
function plan(
  { output, context }: { output: string; context: string | null },
  [first, extra]: readonly string[],
): { asked: StatusTarget | null; form: Form } | string {
  if (extra !== undefined) return `found ${JSON.stringify(extra)}, expected one <kind>/<name>`
  const form = FORMS.find((each) => each === output)
  if (form === undefined) return `found output ${JSON.stringify(output)}, expected ${FORMS.join(', ')}`
  if (context !== null && contextsIn(context).includes(''))
    return `found context ${JSON.stringify(context)}, expected names separated by commas`
  const asked = first === undefined ? null : parseTarget(first)
  return typeof asked === 'string' ? asked : { asked, form }
}
