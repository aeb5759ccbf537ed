import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { calledServers } from '@portico/gateway/doctor'
import { type DoctorCheck, type DoctorFinding, fine } from '../check.ts'

/** Checks that the names of backends resolve on this machine. */
export const dns: DoctorCheck = {
  name: 'dns',
  summary: 'the names of backends resolve',
  run({ config, timeoutMs }) {
    const hosts = calledServers(config.ir).flatMap(({ host, path }) =>
      path === null && isIP(host) === 0 ? [host] : [],
    )
    return Promise.all([...new Set(hosts)].map((host) => findingOf(host, timeoutMs)))
  },
}

async function findingOf(host: string, timeoutMs: number): Promise<DoctorFinding> {
  const about = `name ${host}`
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(Object.assign(new Error(), { code: 'ETIMEOUT' })), timeoutMs)
  try {
    const found = await Promise.race([lookup(host, { all: true }), late.promise])
    return fine(about, `has ${found.length} ${found.length === 1 ? 'address' : 'addresses'}`)
  } catch (error) {
    const { code = 'an error' } = error as NodeJS.ErrnoException
    const isUnknown = code === 'ENOTFOUND'
    return {
      ...{ status: 'problem', about, finding: isUnknown ? 'does not exist' : `cannot be resolved: ${code}` },
      why: 'Calls to it fail with 503.',
      fix: isUnknown
        ? 'Correct the name; a name of a cluster resolves in its Pods only.'
        : 'Check the name servers of this machine: `/etc/resolv.conf`.',
    }
  } finally {
    clearTimeout(timer)
  }
}
