import { defineCommand } from '../command.ts'
import { exitCode } from '../io.ts'
import type { LintForm } from '../lint/lint-files.ts'
import { printable } from '../printable.ts'

export const lint = defineCommand({
  name: 'lint',
  summary: 'find mistakes in a valid config: dead routes, open doors, limits that never hold',
  usage: '[file or folder ...] [options]',
  options: {
    file: {
      kind: 'value',
      short: 'f',
      value: '<path>',
      summary: 'a config file, or a file or folder of manifests; gateway.yaml without operands',
      isPath: true,
    },
    gateway: { kind: 'value', value: '<namespace/name>', summary: 'the Gateway to lint, of manifests with several' },
    failOn: {
      kind: 'value',
      value: '<severity>',
      summary: 'fail at findings of this severity: error, or warning (default)',
      fallback: 'warning',
    },
    output: { kind: 'value', short: 'o', value: '<form>', summary: 'text (default), json or sarif', fallback: 'text' },
  },
  notes: `Reads configs as the gateway does, and sends nothing. Each finding has a code, a location and a fix; docs/lint has a
page for each code. A comment in the config ignores the findings of one line:

  # portico-lint-ignore <code> <reason>

Exit codes: 0 nothing found, 1 a finding of the severity of --fail-on, 2 bad usage.

  porticoctl lint gateway.yaml
  porticoctl lint -f manifests/ --gateway shop/web
  porticoctl lint gateway.yaml -o sarif --fail-on error > lint.sarif
`,
  async run({ options: { file, gateway, failOn, output }, operands, afterDashes, io }) {
    const problem = problemOf(failOn, output, gateway)
    if (problem !== null) {
      io.stderr.write(`porticoctl lint: ${printable(problem)}\n(porticoctl lint --help shows how)\n`)
      return exitCode.badUsage
    }
    const given = [...(file === null ? [] : [file]), ...operands, ...(afterDashes ?? [])]
    // The checks and the loader of configs are loaded only when needed.
    const { lintFiles } = await import('../lint/lint-files.ts')
    return lintFiles(
      {
        paths: given.length === 0 ? ['gateway.yaml'] : given,
        ...{ gateway, form: output as LintForm, failsOnWarning: failOn === 'warning' },
      },
      io,
    )
  },
})

function problemOf(failOn: string, output: string, gateway: string | null): string | null {
  if (!['error', 'warning'].includes(failOn))
    return `found --fail-on ${JSON.stringify(failOn)}, expected error or warning`
  if (gateway !== null && !/^[^/]+\/[^/]+$/.test(gateway)) {
    return `found Gateway ${JSON.stringify(gateway)}, expected <namespace>/<name>`
  }
  if (['text', 'json', 'sarif'].includes(output)) return null
  return `found output ${JSON.stringify(output)}, expected text, json or sarif`
}
