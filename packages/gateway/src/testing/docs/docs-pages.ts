import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Pages of the docs, taken apart for those who run what they show. */

export const root = fileURLToPath(new URL('../../../../../', import.meta.url))

export interface Fence {
  lang: string
  /** The text after the language. */
  note: string
  text: string
  line: number
}

export function readPage(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

export function fencesOf(markdown: string): Fence[] {
  return [...markdown.matchAll(/^```(\w+) ?(.*)\n([^]*?)^```$/gm)].map((fence) => ({
    lang: fence[1]!,
    note: fence[2]!,
    text: fence[3]!,
    line: markdown.slice(0, fence.index).split('\n').length + 1,
  }))
}

/** The cells of the rows below this head; none when the page has no such table. */
export function tableOf(markdown: string, head: string): string[][] {
  const at = markdown.indexOf(`${head}\n`)
  if (at === -1) return []
  const rows = /^\|[-|]+\|\n((?:\|.*\n)*)/.exec(markdown.slice(at + head.length + 1))?.[1] ?? ''
  return rows
    .trimEnd()
    .split('\n')
    .map((row) => row.slice(2, -2).split(' | '))
    .map((cells) => cells.map((cell) => cell.trim()))
}

export function codesIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map((code) => code[1]!)
}

/** The variables that the shell commands of the page export. */
export function exportsOf(fences: readonly Fence[]): Record<string, string> {
  const shell = fences.filter(({ lang }) => lang === 'sh').map(({ text }) => text)
  const lines = shell.flatMap((text) => [...text.matchAll(/^export (\w+)=(.*)$/gm)])
  return Object.fromEntries(lines.map(([, name, value]) => [name!, value!]))
}

/** Replaces the addresses in a page by those of the gateway under test. */
export function withPort(text: string, port: number): string {
  return text.replaceAll(/127\.0\.0\.1:(?:3000|8080)\b/g, `127.0.0.1:${port}`)
}

export interface Ran {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs a program that reads what it has to do; it sees nothing of this machine's environment. */
export function run(command: readonly string[], input: string, env: Record<string, string> = {}): Promise<Ran> {
  const [program = '', ...args] = command
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, env: { PATH: process.env['PATH'], ...env } })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

export async function isInstalled(program: string): Promise<boolean> {
  return (await run(['sh'], `command -v ${program}`)).code === 0
}
