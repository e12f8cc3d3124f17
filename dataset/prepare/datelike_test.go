package prepare

import "testing"

// TestIsLikeDate: texts with a day, a month and a year in any order are like dates. Version numbers are not.
func TestIsLikeDate(t *testing.T) {
	for text, want := range map[string]bool{
		"14.03.24": true, "03/14/2024": true, "3/14/2024 10:15": true, "24-03-05": true, "2024.03.14": true, "31.12.99": true,
		"": false, "14.03": false, "1.2.3": false, "1.2.3.4": false, "14..24": false, "14.03.24.": false, "14.33.2024": false,
		"40.41.24": false, "14.03.124": false, "14.03.20240": false, "a.b.24": false, "14,03,24": false, "0.0.2024": false,
	} {
		if isLikeDate(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
