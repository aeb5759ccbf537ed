import { X509Certificate, createPrivateKey } from 'node:crypto'
import { resolve } from 'node:path'
import type { Problem } from '../schema/problem.ts'
import { printPath } from '../schema/problem.ts'
import { reporter } from './report.ts'
import type { Report } from './report.ts'
import type { Spot } from './tree.ts'

export interface ReadFiles {
  /** Absolute paths of all files that the config names, found or not. */
  files: string[]
  /** Texts by the path of the key that names the file. */
  textsByPath: Map<string, string>
  problems: Problem[]
}

/** Reads and checks every certificate, key and authority that the file names. */
export function readCertificates(root: Spot, dir: string, readFile: (path: string) => string): ReadFiles {
  const problems: Problem[] = []
  const report = reporter(problems)
  const files = new Set<string>()
  const textsByPath = new Map<string, string>()
  const resultsByFile = new Map<string, string | Error>()
  const checked = new Map<string, string | null>()

  function read(spot: Spot): string | null {
    if (spot.text === null) return null
    const file = resolve(dir, spot.text)
    files.add(file)
    let result = resultsByFile.get(file)
    if (result === undefined) {
      result = attempt(() => readFile(file))
      resultsByFile.set(file, result)
    }
    if (typeof result === 'string') {
      textsByPath.set(printPath(spot.path), result)
      return result
    }
    report('unreadable_file', spot, {
      found: `found no readable file ${file} (${result.message})`,
      expected: 'a PEM file',
    })
    return null
  }

  /** The same file is often named many times; its contents are checked once, and reported at each place. */
  function check(key: string, find: () => string | null): string | null {
    const known = checked.get(key)
    if (known !== undefined) return known
    const wrong = find()
    checked.set(key, wrong)
    return wrong
  }

  function readAuthorities(spot: Spot): void {
    const text = read(spot)
    const wrong = text === null ? null : check(`ca ${text}`, () => certificateFault(text))
    if (wrong !== null) reportPem(report, spot, wrong, 'certificates in PEM form')
  }

  function readPair(pair: Spot): void {
    const [certSpot, keySpot] = [pair.at('cert'), pair.at('key')]
    const [cert, key] = [read(certSpot), read(keySpot)]
    const certWrong = cert === null ? null : check(`ca ${cert}`, () => certificateFault(cert))
    const keyWrong = key === null ? null : check(`key ${key}`, () => keyFault(key))
    if (certWrong !== null) reportPem(report, certSpot, certWrong, 'a certificate chain in PEM form')
    if (keyWrong !== null) reportPem(report, keySpot, keyWrong, 'a private key in PEM form, without passphrase')
    if (cert === null || key === null || certWrong !== null || keyWrong !== null) return
    const wrong = check(`pair ${cert} ${key}`, () => (fits(cert, key) ? null : 'found a key of another certificate'))
    if (wrong !== null) reportPem(report, keySpot, wrong, `the key of ${certSpot.text}`)
  }

  for (const tls of listenerTls(root)) {
    readPair(tls)
    readAuthorities(tls.at('root'))
  }
  for (const tls of backendTls(root)) {
    readPair(tls.at('mtlsCertificateRef'))
    readAuthorities(tls.in('mtlsCertificateRef', 'ca'))
    for (const authorities of tls.at('caCertificateRefs').items) readAuthorities(authorities)
  }
  return { files: [...files], textsByPath, problems }
}

function listenerTls(root: Spot): Spot[] {
  return listeners(root)
    .map((listener) => listener.at('tls'))
    .filter((tls) => tls.exists)
}

function backendTls(root: Spot): Spot[] {
  const routes = listeners(root).flatMap((listener) => listener.at('routes').items)
  return [
    ...root.at('backends').items.map((backend) => backend.in('policies', 'tls')),
    ...routes.map((route) => route.in('policies', 'backend', 'tls')),
    ...routes.flatMap((route) => route.at('backends').items.map((entry) => entry.in('policies', 'tls'))),
  ].filter((tls) => tls.exists)
}

function listeners(root: Spot): Spot[] {
  return root.at('binds').items.flatMap((bind) => bind.at('listeners').items)
}

function reportPem(report: Report, spot: Spot, found: string, expected: string): void {
  report('bad_certificate', spot, { found, expected })
}

function certificateFault(pem: string): string | null {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)
  if (blocks === null) return 'found no certificate in the file'
  for (const block of blocks) {
    const result = attempt(() => new X509Certificate(block))
    if (result instanceof Error) return `found a broken certificate (${result.message})`
  }
  return null
}

function keyFault(pem: string): string | null {
  const result = attempt(() => createPrivateKey(pem))
  return result instanceof Error ? `found no usable key (${result.message})` : null
}

function fits(cert: string, key: string): boolean {
  return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
}

function attempt<T>(action: () => T): T | Error {
  try {
    return action()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
