import type { DoctorFinding } from './check.ts'

/** Returns the finding about a server that cannot be reached; `code` is the code of the connection error. */
export function unreachable(about: string, { code, isTls }: { code: string; isTls: boolean }): DoctorFinding {
  const why = 'Calls to it fail with 503.'
  if (!isTls) {
    const [finding, fix] = PLAIN[code] ?? [`cannot be reached: ${code}`, 'Check the address, and the way to it.']
    return { status: 'problem', about, finding, why, fix }
  }
  const [finding, fix] = SECURE[code] ?? [
    `fails the TLS handshake: ${code}`,
    'Check that the port speaks TLS; without TLS, leave out the policy `tls`.',
  ]
  return { status: 'problem', about, finding, why, fix }
}

const PLAIN: Readonly<Record<string, readonly [string, string]>> = {
  ECONNREFUSED: ['refuses connections', 'Start the server, or correct host and port.'],
  ETIMEDOUT: ['does not answer', 'A firewall may drop the packets, or the address is wrong.'],
  ENOTFOUND: ['has a name that does not exist', 'Correct the name.'],
  EHOSTUNREACH: ['has no route to it', 'Check the network of this machine.'],
  ENOENT: ['has no socket file', 'Start the server, or correct the path.'],
  EACCES: ['has a socket file that this user may not use', 'Give the user of the gateway the right to write it.'],
}

const TRUST = 'Name the authority with `tls.caCertificateRefs`, or get a certificate of a public one.'

const SECURE: Readonly<Record<string, readonly [string, string]>> = {
  CERT_HAS_EXPIRED: ['has a certificate that has ended', 'Renew the certificate of the server.'],
  CERT_NOT_YET_VALID: ['has a certificate that is not valid yet', 'Check the clock of this machine.'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['has a self-signed certificate', TRUST],
  SELF_SIGNED_CERT_IN_CHAIN: ['has a certificate of an unknown authority', TRUST],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['has a certificate of an unknown authority', TRUST],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ['has a certificate of an unknown authority', TRUST],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'has a certificate for another name',
    'Set `tls.sni` or `tls.verifySubjectAltNames` to a name of the certificate, or correct the host.',
  ],
  ECONNRESET: ['closes the connection during the TLS handshake', 'Check that the port speaks TLS.'],
  ERR_SSL_WRONG_VERSION_NUMBER: [
    'does not speak TLS on this port',
    'Leave out the policy `tls`, or use the port with TLS.',
  ],
  ERR_SSL_PACKET_LENGTH_TOO_LONG: [
    'does not speak TLS on this port',
    'Leave out the policy `tls`, or use the port with TLS.',
  ],
  ETIMEDOUT: ['does not finish the TLS handshake', 'Check that the port speaks TLS.'],
}
