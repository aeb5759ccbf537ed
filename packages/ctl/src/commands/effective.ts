import { adminOptions } from '../admin-options.ts'
import { clusterOptions } from '../cluster/options.ts'
import { defineCommand } from '../command.ts'
import { exitCode } from '../io.ts'
import { printable } from '../printable.ts'
import { type PlanResult, planSource, type Source, tokenProblem } from '../trace/source.ts'

export const effective = defineCommand({
  name: 'effective',
  summary: 'show the effective policies after merging',
  usage: 'gateway/<name> | --local | -f <file> [options]',
  options: {
    local: { kind: 'flag', summary: 'use a standalone gateway instead of one in a cluster' },
    file: {
      kind: 'value',
      short: 'f',
      value: '<file>',
      summary: 'read a config file instead of a running gateway',
      isPath: true,
    },
    route: { kind: 'value', value: '<name>', summary: 'only routes of this name, such as shop/orders' },
    output: { kind: 'value', short: 'o', value: '<form>', summary: 'yaml (default) or json', fallback: 'yaml' },
    ...adminOptions,
    ...clusterOptions,
  },
  notes: `Prints the listeners of the config with their policies before routing, and their routes and backends with their
policies. Every policy has its origin and the policies that it overrides, in a file with line and column. Secrets are
redacted. For a Gateway in a cluster, the config comes from one ready Pod.

Exit codes: 0 success, 1 the config could not be read, 2 bad usage.

  porticoctl effective gateway/web -n shop
  porticoctl effective gateway/web -n shop --route orders -o json
  porticoctl effective --local
  porticoctl effective -f gateway.yaml --route orders
`,
  async run({ options, operands, afterDashes, io }) {
    const { output, adminToken } = options
    const given = [...operands, ...(afterDashes ?? [])]
    const source = planEffective(options, given)
    const problem = source.ok ? (tokenProblem(adminToken) ?? formProblem(output)) : source.problem
    if (!source.ok || problem !== null) {
      io.stderr.write(`porticoctl effective: ${printable(problem ?? '')}\n(porticoctl effective --help shows how)\n`)
      return exitCode.badUsage
    }
    // Merging and its dependencies are loaded only when needed.
    const { showEffective } = await import('../effective/show-effective.ts')
    return showEffective({ ...options, from: source.value, isJson: output === 'json' }, io)
  },
})

/** A file is read directly, without a gateway. */
function planEffective(
  options: { readonly file: string | null; readonly local: boolean; readonly admin: string },
  operands: readonly string[],
): PlanResult<EffectiveSource> {
  const { file } = options
  if (file === null) return planSource({ ...options, operands })
  if (options.local || operands.length > 0) {
    return { ok: false, problem: '-f reads a file: leave out --local and gateway/<name>, or -f' }
  }
  return { ok: true, value: { kind: 'file', file } }
}

type EffectiveSource = Source | { readonly kind: 'file'; readonly file: string }

function formProblem(output: string): string | null {
  return ['yaml', 'json'].includes(output) ? null : `found output ${JSON.stringify(output)}, expected yaml or json`
}
