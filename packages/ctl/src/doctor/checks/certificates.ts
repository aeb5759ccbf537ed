import { X509Certificate } from 'node:crypto'
import { type DoctorCheck, type DoctorFinding, fine } from '../check.ts'

const SOON_DAYS = 30
const DAY_MS = 86_400_000

/** Checks that the certificates of listeners are valid now and for the listener's hostname. */
export const certificates: DoctorCheck = {
  name: 'certificates',
  summary: 'the certificates of listeners are valid, and fit their hostnames',
  run: ({ config, now }) =>
    Promise.resolve(
      config.ir.listeners.flatMap(({ name, hostname, tls }) =>
        tls === null
          ? []
          : [tls.cert, ...(tls.others ?? []).map(({ cert }) => cert)].map((pem, index) =>
              findingOf({ pem, about: `certificate ${index + 1} of listener ${name}`, hostname, now: now() }),
            ),
      ),
    ),
}

interface ListenerCertificate {
  readonly pem: string
  readonly about: string
  /** The hostname of the listener; empty when the listener serves all hosts. */
  readonly hostname: string
  readonly now: number
}

function findingOf({ pem, about, hostname, now }: ListenerCertificate): DoctorFinding {
  const certificate = new X509Certificate(pem)
  const [from, to] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()]
  const day = new Date(to).toISOString().slice(0, 10)
  if (now > to) return expired(about, 'problem', `ended on ${day}`)
  if (now < from) {
    return {
      ...{ status: 'problem', about, finding: `is not valid before ${certificate.validFromDate.toISOString()}` },
      why: 'Clients refuse it.',
      fix: 'Check the clock of this machine, or get another certificate.',
    }
  }
  const sample = hostname.replace(/^\*/, 'any')
  if (sample !== '' && certificate.checkHost(sample) === undefined) {
    return {
      ...{ status: 'warning', about, finding: `is not for ${hostname}` },
      why: 'Clients that ask for this name refuse the certificate, unless another one of the listener fits.',
      fix: `Get a certificate with the name ${hostname}.`,
    }
  }
  if (to - now < SOON_DAYS * DAY_MS) return expired(about, 'warning', `ends on ${day}`)
  return fine(about, `is valid until ${day}`)
}

function expired(about: string, status: 'problem' | 'warning', finding: string): DoctorFinding {
  return {
    status,
    about,
    finding,
    why: 'Clients refuse it afterwards.',
    fix: 'Renew it; the gateway reads a new file by itself.',
  }
}
