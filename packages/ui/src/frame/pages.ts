import { RequestsIcon } from './icons.tsx'

/** Every page, as the navigation and the search name them. */
export const PAGES = [{ to: '/requests', name: 'Requests', Icon: RequestsIcon }] as const
