import type { DoctorCheck } from './check.ts'
import { backends } from './checks/backends.ts'
import { certificates } from './checks/certificates.ts'
import { clock } from './checks/clock.ts'
import { collectors } from './checks/collectors.ts'
import { dns } from './checks/dns.ts'
import { fileLimits } from './checks/file-limits.ts'
import { ports } from './checks/ports.ts'
import { providers } from './checks/providers.ts'
import { stores } from './checks/stores.ts'

/** All checks, in the order of the report. */
export const doctorChecks: readonly DoctorCheck[] = [
  ports,
  fileLimits,
  clock,
  dns,
  certificates,
  backends,
  providers,
  stores,
  collectors,
]
