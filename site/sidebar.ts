import { type SitePage, siteGroups } from './site-pages.ts'

/** The list of pages in the form that VitePress shows. */
export interface SidebarItem {
  text: string
  link?: string
  collapsed?: boolean
  items?: SidebarItem[]
}

export function sidebar(): SidebarItem[] {
  return siteGroups().map(({ title, path, pages }) => ({
    text: title,
    collapsed: path === null,
    items: pages.map(sidebarItem),
  }))
}

function sidebarItem({ title, address, children }: SitePage): SidebarItem {
  const item = { text: title, link: `/${address}` }
  return children.length === 0 ? item : { ...item, collapsed: true, items: children.map(sidebarItem) }
}
