import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './site-pages.ts'

/** The versions that a reader can switch between. */

export interface SiteVersion {
  /** A release, or `next` for the pages of the newest sources. */
  version: string
  /** Below the root of the site; empty or ends with a slash. */
  path: string
}

const RELEASE = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/

/** Releases of the changelog, the newest first, and before them the version that comes next. */
export function knownReleases(changelog: string, nextVersion: string): string[] {
  const released = [...changelog.matchAll(/^## \[([^\]]+)\]/gm)].map(([, name = '']) => name).filter(isRelease)
  return released.includes(nextVersion) ? released : [nextVersion, ...released]
}

/** The folders of releases that were built into `folder`, behind the newest sources. */
export function builtVersions(folder: string, releases: readonly string[]): SiteVersion[] {
  const built = releases.filter((version) => existsSync(join(folder, version, 'index.html')))
  const newest = existsSync(join(folder, 'index.html')) ? [{ version: 'next', path: '' }] : []
  return [...newest, ...built.map((version) => ({ version, path: `${version}/` }))]
}

export function isRelease(version: string): boolean {
  return RELEASE.test(version)
}

export function releasesOfTree(): string[] {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  return knownReleases(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version)
}
