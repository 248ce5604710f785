import { Button, Group, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client'
import { ErrorNote, Stars } from '../../parts'
import { Section } from './section'
import { noteChange, type Blueprint } from '../../api/use-blueprint'
import { ratingSectionText } from '../../text/blueprints'

/** The ratings of a blueprint, and the user's own rating. */
export function RatingSection({ blueprint }: { blueprint: Blueprint }) {
  const { id, average_rating, rating_count, user_rating = 0 } = blueprint
  const rate = useMutation({
    mutationFn: (rating: number) => api.blueprint.rate.mutate({ id, rating }),
    onSuccess: (after) => noteChange(id, { ...after, user_rating: after.user_rating }),
  })
  return (
    <Section title={ratingSectionText.rating}>
      <Group gap="xs" mih={24}>
        <Stars value={average_rating} label={ratingSectionText.average} />
        <Text size="sm" c="dimmed">
          {rating_count === 0
            ? ratingSectionText.noRatingsYet
            : ratingSectionText.fromRatings(Number(average_rating.toFixed(1)), rating_count)}
        </Text>
      </Group>
      <Text size="sm" fw={500} mt="sm" mb={4}>
        {ratingSectionText.yourRating}
      </Text>
      <Group gap="sm" mih={36}>
        <Stars
          value={rate.isPending ? rate.variables : user_rating}
          label={ratingSectionText.yourRating}
          onRate={(value) => rate.mutate(value)}
        />
        {user_rating > 0 && (
          <Button variant="subtle" size="compact-sm" onClick={() => rate.mutate(0)}>
            {ratingSectionText.removeRating}
          </Button>
        )}
      </Group>
      <ErrorNote error={rate.error} title={ratingSectionText.couldNotSaveTheRating} />
    </Section>
  )
}
