import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

interface AcceptedFailure {
  /** Section of RFC 7540, which the suite goes by. */
  section: string
  /** The name of the test in the suite. */
  test: string
  /** `both`, or the only kind of port on which the test fails. */
  on: 'both' | 'plain'
  reason: string
}

/** Accepted failures, each with the reason. */
export const accepted: readonly AcceptedFailure[] = [
  {
    section: '3.5',
    test: 'Sends invalid connection preface',
    on: 'plain',
    reason:
      'The port speaks HTTP/1.1 too, and what is no preface is read as that: the answer is 400, and the connection is closed. The suite expects a close without a word.',
  },
]

export function pageOf(): string {
  const rows = accepted.map(({ section, test, on, reason }) => `| ${section} | ${test} | ${on} | ${reason} |\n`)
  return `# h2spec

<!-- Written by \`node --test e2e/h2spec.test.ts\`; do not edit. -->

[h2spec](https://github.com/summerwind/h2spec) 2.2.1 tests servers of HTTP/2 frame by frame: 145 tests of RFC 7540 and RFC 7541.
The gateway passes all of them on plain ports (prior knowledge) and on TLS ports, but for these. A test holds the list:
a failure that is not in it fails the build.

| Section | Test | Ports | Why it is accepted |
| --- | --- | --- | --- |
${rows.join('')}`
}

/** The program, from \`H2SPEC\`, the path or where Go puts what it installs; null where there is none. */
export function findH2spec(): string | null {
  const { H2SPEC, GOPATH, PATH = '' } = process.env
  const folders = [...PATH.split(delimiter), join(GOPATH ?? join(homedir(), 'go'), 'bin')]
  return [H2SPEC ?? '', ...folders.map((folder) => join(folder, 'h2spec'))].find((file) => existsSync(file)) ?? null
}

/** Runs all tests against a port; the names of those that failed, with what the suite says. */
export async function runH2spec(
  program: string,
  port: number,
  isTls: boolean,
): Promise<{ passed: number; failed: Map<string, string> }> {
  const folder = mkdtempSync(join(tmpdir(), 'h2spec-'))
  const report = join(folder, 'report.xml')
  const args = ['-h', '127.0.0.1', '-p', String(port), '-o', '3', '-j', report, ...(isTls ? ['-t', '-k'] : [])]
  try {
    // Its exit code says only that something failed; the report says what.
    await new Promise<void>((resolve) => execFile(program, args, { timeout: 300_000 }, () => resolve()))
    return readReport(readFileSync(report, 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function readReport(text: string): { passed: number; failed: Map<string, string> } {
  const failed = new Map<string, string>()
  let passed = 0
  for (const [, group, name, content = ''] of text.matchAll(
    /<testcase package="([^"]*)" classname="([^"]*)"[^>]*>([^]*?)<\/testcase>/g,
  )) {
    const section = group?.split('/')[1] ?? ''
    const error = /<(?:error|failure)[^>]*>([^]*)<\/(?:error|failure)>/.exec(content)
    if (error === null) passed++
    else failed.set(`${section} ${name}`, error[1] ?? '')
  }
  return { passed, failed }
}
