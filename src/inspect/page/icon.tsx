import type { JSX } from 'preact'

const PATHS = {
  play: 'M4 2.5v11l9-5.5z',
  pause: 'M4 3h3v10H4zM9 3h3v10H9z',
  next: 'M3 3l6 5-6 5zM10.5 3h2v10h-2z',
  previous: 'M13 3L7 8l6 5zM3.5 3h2v10h-2z',
  alert: 'M8 1.5l7 12.5H1zM7.2 6v4h1.6V6zM7.2 11.2v1.6h1.6v-1.6z',
  back: 'M10.5 2.5L5 8l5.5 5.5 1.2-1.2L7.4 8l4.3-4.3z',
  link: 'M6.5 4.5h-2a3.5 3.5 0 000 7h2V10h-2a2 2 0 010-4h2zM9.5 4.5V6h2a2 2 0 010 4h-2v1.5h2a3.5 3.5 0 000-7zM5.5 7.25v1.5h5v-1.5z',
} as const

/** A small picture inside a button; what it means is said by the button. */
export function Icon({ name }: { readonly name: keyof typeof PATHS }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path fill-rule="evenodd" d={PATHS[name]} />
    </svg>
  )
}
