import { adminOptions } from '../admin-options.ts'
import { clusterOptions } from '../cluster/options.ts'
import { defineCommand } from '../command.ts'
import { exitCode } from '../io.ts'
import { printable } from '../printable.ts'
import { filterOptions } from '../requests/filters.ts'
import { planSource, tokenProblem } from '../trace/source.ts'
import { idProblem } from './explain.ts'

export const requests = defineCommand({
  name: 'requests',
  summary: 'list recorded requests, or follow them',
  usage: '[get <id>] gateway/<name> | --local [options]',
  options: {
    local: { kind: 'flag', summary: 'use a standalone gateway instead of one in a cluster' },
    follow: { kind: 'flag', summary: 'print requests as they end, until interrupted' },
    limit: { kind: 'value', value: '<count>', summary: 'maximum number (default 50, up to 1000)', fallback: '50' },
    output: { kind: 'value', short: 'o', value: '<form>', summary: 'table (default) or json', fallback: 'table' },
    ...filterOptions,
    ...adminOptions,
    ...clusterOptions,
  },
  notes: `Every gateway records its latest requests, and separately those that were denied, failed or slow.
The form "get <id>" prints the full record of one request as JSON. With -o json, each request is one line. For a
Gateway in a cluster, the requests of all ready Pods are merged, the newest first.

Exit codes: 0 success, 1 the requests could not be read, 2 bad usage, 130 interrupted.

  porticoctl requests --local --outcome denied,limited --since 15m
  porticoctl requests gateway/web -n shop --status 5xx -o json
  porticoctl requests gateway/web -n shop --follow --policy rateLimit
  porticoctl requests get 01jd3xk2m8q7c5r --local
`,
  async run({ options, operands, afterDashes, io }) {
    const given = [...operands, ...(afterDashes ?? [])]
    const isOne = given[0] === 'get'
    const id = isOne ? given[1] : undefined
    const source = planSource({ ...options, operands: isOne ? given.slice(2) : given })
    const { output, limit, adminToken: token } = options
    const problem =
      (isOne ? idProblem(id) : null) ??
      (source.ok ? (tokenProblem(token) ?? formProblem(output) ?? limitProblem(limit)) : source.problem)
    if (!source.ok || problem !== null) {
      io.stderr.write(`porticoctl requests: ${printable(problem ?? '')}\n(porticoctl requests --help shows how)\n`)
      return exitCode.badUsage
    }
    const isJson = output === 'json'
    const { withAdmins } = await import('../requests/with-admins.ts')
    const place = { ...options, from: source.value }
    if (isOne) {
      const { showRecord } = await import('../requests/show-one.ts')
      return withAdmins(place, io, (admins) => showRecord(admins, { id: id ?? '', token, isJson }, io))
    }
    const { followRequests, listRequests } = await import('../requests/list-requests.ts')
    const show = options.follow ? followRequests : listRequests
    return withAdmins(place, io, (admins) => show(admins, { filters: options, limit, token, isJson }, io))
  },
})

function formProblem(output: string): string | null {
  return ['table', 'json'].includes(output) ? null : `found output ${JSON.stringify(output)}, expected table or json`
}

function limitProblem(limit: string): string | null {
  const isFine = /^[0-9]{1,4}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= 1000
  return isFine ? null : `found limit ${JSON.stringify(limit)}, expected a number from 1 to 1000`
}
