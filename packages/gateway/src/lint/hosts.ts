import { isIP } from 'node:net'
import type { LintSubject } from './subject.ts'

/** Whether a host is this machine. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replaceAll(/[[\]]/g, '')
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(?:\.\d{1,3}){3}$/.test(name)
}

/** Whether a host is, by its name or its address, in a network that is not public. */
export function isPrivate(host: string): boolean {
  const name = host.toLowerCase().replaceAll(/[[\]]/g, '')
  if (isLoopback(name)) return true
  if (isIP(name) === 4) return /^(?:10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.)/.test(name)
  if (isIP(name) === 6) return /^f[cde]/.test(name)
  return !name.includes('.') || /\.(?:internal|local|lan|home|corp|svc|test|cluster\.local)$/.test(name)
}

/** The host and the policies of a named backend or of a backend that a policy describes. */
export function backendHost({ ir }: LintSubject, key: string): { host: string; hasTls: boolean } | null {
  const target = ir.backends.find((backend) => backend.key === key)?.target
  if (target?.kind !== 'static') return null
  const hasTls = ir.policies.some(
    (policy) => policy.target.kind === 'backend' && policy.target.key === key && policy.backend?.tls !== undefined,
  )
  return { host: target.host, hasTls }
}
