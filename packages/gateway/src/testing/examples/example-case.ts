import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { readPage } from '../docs/docs-pages.ts'
import type { TestGateway, TestGatewayOptions } from '../gateway.ts'

/** Sets up what stands in for the backends of an example, and says what has to happen then. */
export type ExampleCase = (t: TestContext) => Promise<Stand>

export interface Stand {
  /** Replacements for texts of the file: ports and addresses of this machine. */
  replace?: Record<string, string | number>
  /** Rewrites the config where replacing texts is not enough. */
  rewrite?: (yaml: string) => string
  gateway?: TestGatewayOptions
  /** The expected output of each command in the comment of the file, in order. */
  shows: RegExp[]
  /** Rewrites a command where replacing addresses is not enough. */
  command?: (text: string, gateway: TestGateway) => string
  check(gateway: TestGateway): Promise<void>
}

export interface ExampleFile {
  yaml: string
  /** Ports of its binds, in order. */
  ports: string[]
  /** Shell commands of the comment on top: lines that are indented by three. */
  commands: string[]
}

export function readExample(file: string): ExampleFile {
  const yaml = readPage(`examples/${file}`)
  const [schema, purpose = ''] = yaml.split('\n')
  assert.equal(schema, '# yaml-language-server: $schema=../schema/config.json')
  assert.match(purpose, /^# [A-Za-z]/)
  const shell = [...yaml.matchAll(/^# {3}(.*)$/gm)].map((line) => line[1]).join('\n')
  return {
    yaml,
    ports: [...yaml.matchAll(/^(?:- |llm:\n {2})port: (?:\$\{PORT:-)?(\d+)/gm)].map((bind) => bind[1]!),
    commands: shell.split(/\n(?=curl |printf |dig )/).filter((command) => command !== ''),
  }
}

/** The config with ports that are free, and with what stands in for its backends. */
export function placed({ yaml }: ExampleFile, { replace = {}, rewrite = (text) => text }: Stand): string {
  let text = yaml.replaceAll(/^(- |llm:\n {2})port: .+$/gm, '$1port: 0')
  for (const [from, to] of Object.entries(replace)) {
    assert.ok(text.includes(from), `${from} is not in the example`)
    text = text.replaceAll(from, String(to))
  }
  return rewrite(text)
}

export const ALICE = 'alice-key-0123456789'

export function bearer(credential: string): { authorization: string } {
  return { authorization: `Bearer ${credential}` }
}
