import { readFileSync } from 'node:fs'
import { type DoctorCheck, fine, notChecked } from '../check.ts'

const ABOUT = 'open files'
const ENOUGH = 65_536

/** Checks that the process may open enough connections. */
export const fileLimits: DoctorCheck = {
  name: 'file-limits',
  summary: 'the limit of open files allows many connections',
  run: () => {
    const limit = softLimit()
    if (limit === null) return Promise.resolve([notChecked(ABOUT, 'this system does not tell the limit')])
    if (limit >= ENOUGH) return Promise.resolve([fine(ABOUT, `the limit is ${limit}`)])
    return Promise.resolve([
      {
        ...{ status: 'warning', about: ABOUT, finding: `the limit of this shell is ${limit}` },
        why: 'Each connection of a client, and each to a backend, needs one. At the limit, new connections fail.',
        fix: `Raise it where the gateway is started: \`ulimit -n ${ENOUGH}\`, or \`LimitNOFILE=${ENOUGH}\` of systemd.`,
      },
    ])
  },
}

/** Returns the soft limit of open files that this process has inherited; null when the limit cannot be read. */
function softLimit(): number | null {
  try {
    const [, soft] = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    if (soft === undefined) return null
    return soft === 'unlimited' ? Infinity : Number(soft)
  } catch {
    return null
  }
}
