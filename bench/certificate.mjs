// A self-signed EC P-256 certificate for the TLS scenario.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { machineTools } from './machine.mjs'

/** Writes a CA for the certificates of a mesh: `ca.crt` and `ca.key`; returns false without openssl. */
export function makeAuthority(dir) {
  const { openssl } = machineTools()
  if (!openssl) return false
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const out = ['-keyout', join(dir, 'ca.key'), '-out', join(dir, 'ca.crt'), '-days', '2']
  return spawnSync(openssl, ['req', '-x509', ...curve, '-subj', '/CN=Mesh CA', ...out]).status === 0
}

/** @returns {{ cert: string, key: string, both: string } | null} paths; null without openssl */
export function makeCertificate(dir) {
  const { openssl } = machineTools()
  if (!openssl) return null
  const files = { cert: join(dir, 'tls.crt'), key: join(dir, 'tls.key'), both: join(dir, 'tls.pem') }
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const out = ['-keyout', files.key, '-out', files.cert, '-days', '2']
  const made = spawnSync(openssl, ['req', '-x509', ...curve, ...subject, ...out])
  if (made.status !== 0) return null
  writeFileSync(files.both, readFileSync(files.cert, 'utf8') + readFileSync(files.key, 'utf8'), { mode: 0o600 })
  return files
}
